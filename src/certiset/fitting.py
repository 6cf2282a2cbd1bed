"""`certiset.fit`: the fit of `certiset.core`, with a bar for whoever waits for it."""

from typing import Any, Unpack

from numpy.typing import ArrayLike

from certiset.core.fit import Predictor
from certiset.core.fit.fitting import fit as fit_silently
from certiset.core.fit.keywords import FitKeywords
from certiset.core.posterior.optimizer import ShouldStop
from certiset.fit_progress import Report, shown


def fit(
    model: object,
    x: Any,
    y: Any,
    *,
    clusters: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    weights: str | ArrayLike | None = None,
    target: Any = None,
    groups: str | list[str] | ArrayLike | None = None,
    progress: Report | bool | None = None,
    should_stop: ShouldStop | None = None,
    **options: Unpack[FitKeywords],
) -> Predictor:
    """Turns calibration data into a predictor whose members carry a certificate.

    ``model`` is a fitted scikit-learn estimator, a torch module, the path of an ONNX file, a function from rows to
    outputs, or a `Model`. ``x`` is an array or a data frame; ``clusters``, ``order``, ``weights`` and ``groups`` name
    columns of the data frame, or are arrays with one entry per row; ``groups`` may also be several columns, which
    cross, or "class". ``target`` are inputs without truths, of another population: weights for it are estimated.
    In terminals and notebooks a bar on standard error shows how far the fit is; ``progress=False`` turns it off, and a
    function as ``progress`` is told instead: {phase, step, steps, fraction, metrics}. Options and their defaults are
    those of `FitOptions`. Everything is checked before any work is done; the same seed gives the same bytes on one
    device.
    """
    with shown(progress) as report:
        return fit_silently(
            model,
            x,
            y,
            clusters=clusters,
            order=order,
            weights=weights,
            target=target,
            groups=groups,
            progress=report,
            should_stop=should_stop,
            **options,
        )
