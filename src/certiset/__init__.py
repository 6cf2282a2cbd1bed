"""Prediction sets with PAC-Bayes certificates of coverage and size.

    from certiset import fit

    predictor = fit(model, x, y, alpha=0.1, delta=0.05)  # scikit-learn, torch, ONNX or a function
    predictor.predict_set(x)
    predictor.certificate.statement

Every name is loaded on first use, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certiset.auditing import verify
    from certiset.core import bounds
    from certiset.core.certificate import Certificate
    from certiset.core.fit import Predictor, load
    from certiset.core.models import Model
    from certiset.fitting import fit
    from certiset.monitoring import monitor
    from certiset.pushing import push
    from certiset.service.client import Client

    __version__: str

__all__ = ["Certificate", "Client", "Model", "Predictor", "bounds", "fit", "load", "monitor", "push", "verify"]

_HOMES = {
    "Certificate": "certiset.core.certificate",
    "Client": "certiset.service.client",
    "Model": "certiset.core.models",
    "Predictor": "certiset.core.fit",
    "bounds": "certiset.core",
    "fit": "certiset.fitting",
    "load": "certiset.core.fit",
    "monitor": "certiset.monitoring",
    "push": "certiset.pushing",
    "verify": "certiset.auditing",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 (reading a package's metadata takes its time)

        return version("certiset")
    if name not in _HOMES:
        raise AttributeError(f"module 'certiset' has no attribute {name!r}")
    try:
        found = _load(name)
    except ModuleNotFoundError as error:
        from certiset.extras import explained  # noqa: PLC0415 (needed only if something is missing)

        raise explained(error, f"certiset.{name}") from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _load(name: str) -> Any:
    home = import_module(_HOMES[name])
    # A name is an attribute of its home, or a package inside it.
    return getattr(home, name) if hasattr(home, name) else import_module(f"{_HOMES[name]}.{name}")
