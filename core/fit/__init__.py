"""From a model and calibration data to certified (theta, tau) pairs."""

from core.fit.fitting import check, fit
from core.fit.predictor import Predictor
from core.fit.saving import load

__all__ = ["Predictor", "check", "fit", "load"]
