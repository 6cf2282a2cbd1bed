"""From a model and calibration data to certified (theta, tau) pairs."""

from core.fit.fitting import fit
from core.fit.predictor import Predictor
from core.fit.saving import load

__all__ = ["Predictor", "fit", "load"]
