"""Models to calibrate: a manifest and weights become a frozen backbone and a tunable head."""

from certiset.core.models.binding import as_model
from certiset.core.models.manifest import Manifest
from certiset.core.models.model import Model
from certiset.core.models.sources import UnboundModel

__all__ = ["Manifest", "Model", "UnboundModel", "as_model"]
