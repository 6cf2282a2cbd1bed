"""Models to calibrate: a manifest and weights become a frozen backbone and a tunable head."""

from certiset.core.models.manifest import Manifest
from certiset.core.models.model import Model

__all__ = ["Manifest", "Model"]
