"""Models to calibrate: a manifest and weights become a frozen backbone and a tunable head."""

from core.models.manifest import Manifest
from core.models.model import Model

__all__ = ["Manifest", "Model"]
