"""What a fit noticed that a reader should know: about labels, empty sets, and coarse arithmetic.

None of it touches the promise, which holds for any model. All of it is unlikely in a fit that went as it was meant.
"""

import math

import numpy as np
from numpy.typing import NDArray

from certiset.core.certificate.content import Caveat

_ROWS_OF_A_CLASS = 20
_Z = 2.33
"""standard errors above chance that an informative model has, but for one in a hundred"""
_EMPTY = 0.5
_COARSE = 0.05
_NAMED = 5
_ORDER = "Are the labels in the order of the model's outputs?"


def label_caveats(outputs: NDArray[np.floating], y: NDArray[np.int64]) -> list[Caveat]:
    """Whether the model as given knows the labels by their numbers: outputs (n, classes) are its logits.

    A class counts as known if its rows get more of its probability than others do, even if it is never the likeliest:
    so it is with rare classes, and no mistake.
    """
    share = _probabilities(outputs.astype(np.float64))
    first, classes = share.argmax(axis=1), share.shape[1]
    counts = np.bincount(y, minlength=classes)
    own = share[np.arange(len(y)), y]
    hits, guessed = float(np.mean(first == y)), float(np.mean(counts[first]) / len(y))
    found = []
    guessing = hits - guessed <= _Z * math.sqrt(guessed * (1 - guessed) / len(y))
    if guessing and not _is_above(own - share @ (counts / len(y))):
        found.append(
            Caveat(
                "accuracy_near_chance",
                f"As it was given, the model is right for {hits:.1%} of the rows; guessing would be right for "
                f"{guessed:.1%}. {_ORDER}",
            )
        )
    never = [
        label
        for label in np.flatnonzero(counts >= _ROWS_OF_A_CLASS).tolist()
        if not np.any(first[y == label] == label) and not _knows(share[:, label], y == label)
    ]
    if never:
        shown = ", ".join(map(str, never[:_NAMED])) + (", ..." if len(never) > _NAMED else "")
        found.append(
            Caveat(
                "class_never_first",
                f"As it was given, the model finds another label likelier than the true one in every row of label "
                f"{shown}. {_ORDER}",
            )
        )
    return found


def set_caveats(empty: float, *, labels: bool) -> list[Caveat]:
    """``empty`` is the share of D_N's sets that are."""
    if empty <= _EMPTY:
        return []
    message = f"{empty:.0%} of the calibration rows' sets are empty: alpha is large, or the model fits the data badly."
    return [Caveat("empty_sets", f"{message} {_ORDER}" if labels else message)]


def rounding_caveats(shares: list[float], precision: str) -> list[Caveat]:
    """``shares``: what each threshold was raised by for rounding, as a share of it."""
    if max(shares) <= _COARSE:
        return []
    message = f"Rounding makes thresholds up to {max(shares):.0%} larger: the model's sums cancel in {precision}."
    advice = " Choose dtype = float64." if precision == "float32" else " Rescale its inputs or weights."
    return [Caveat("coarse_arithmetic", message + advice)]


def _probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _knows(share: NDArray[np.float64], own: NDArray[np.bool_]) -> bool:
    """Whether rows of the class get more of its probability than others, beyond chance."""
    inside, outside = share[own], share[~own]
    if not len(outside):
        return True
    error = math.sqrt(inside.var() / len(inside) + outside.var() / len(outside))
    return bool(inside.mean() - outside.mean() > _Z * error)


def _is_above(values: NDArray[np.float64]) -> bool:
    """Whether the mean is positive, beyond chance."""
    return bool(values.mean() > _Z * values.std() / math.sqrt(len(values)))
