"""From a model and calibration data to certified (theta, tau) pairs.

The names are loaded on first use: `certiset.core.fit.options` is needed where PyTorch is not.
"""

from typing import TYPE_CHECKING

from certiset.core.lazy import lazy_names

if TYPE_CHECKING:
    from certiset.core.fit.fitting import check, fit
    from certiset.core.fit.loading import load
    from certiset.core.fit.predictor import Predictor

__all__ = ["Predictor", "check", "fit", "load"]

__getattr__ = lazy_names(__name__, {"Predictor": "predictor", "check": "fitting", "fit": "fitting", "load": "loading"})
