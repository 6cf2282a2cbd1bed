r"""Another mixture of classes: rows drawn so that their classes are as frequent as in the target.

**Statement.** Let the target law have known prevalences pi_y of the classes, and the same law of the inputs given the
class as the calibration rows have (label shift). Let m be fixed by pi and the counts n_y alone. Draw m labels from pi,
and for each take an unused row of that class, in an order drawn at random. If no class is asked for more often than it
has rows, these m rows calibrate; otherwise there is **no certificate, and no second try** on the same rows. Then the
probability that a certificate is issued and false, for future points from the target, is at most its delta.

*Proof.* Given their labels, the rows of class y are n_y independent draws from p(x | y), in any order that does not
depend on them. Imagine as many more of them as are asked for: then the m rows are always there and are independent
draws from the target law, so a certificate made from them is false with probability at most delta. One that is issued
is made from real rows alone, and is the same; so the event that one is issued and false is part of that event. Nothing
is taken from delta. (A second try would be another certificate, with a delta of its own; and given that one is issued,
it is false with probability at most delta / (1 - epsilon).)

**How many.** m is the largest number for which sum_y P(Binomial(m, pi_y) > n_y) <= epsilon: by the union bound some
class runs out with probability at most epsilon. Little is lost by the union: counts of classes are negatively
associated (Joag-Dev and Proschan 1983), so the probability is at least 1 - prod_y (1 - p_y), which is at least S - S^2
/ 2 where S = sum_y p_y.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from certiset.core.bounds.domain import Floats, Ints, count, finite, one_number, open_unit
from certiset.core.bounds.errors import DomainError, ExhaustedClassError

EPSILON = 0.01
_ROUNDING = 1e-9


def label_shift_draws(counts: ArrayLike, prevalences: ArrayLike, epsilon: float = EPSILON) -> int:
    """The largest m for which some class is asked for more often than it has rows with probability epsilon at most."""
    n = count("counts", counts, at_least=0)
    pi = _prevalences(prevalences)
    if n.shape != pi.shape:
        raise DomainError(
            f"{n.size} counts were given for {pi.size} prevalences: one per class is needed.", field="counts"
        )
    risk = one_number("epsilon", open_unit("epsilon", epsilon))
    asked = pi > 0
    low, high = 0, int(n[asked].sum()) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _run_out(middle, n[asked], pi[asked]) <= risk else (low, middle)
    return low


def label_shift_rows(
    labels: ArrayLike, prevalences: ArrayLike, generator: np.random.Generator, epsilon: float = EPSILON
) -> Ints:
    """Places of the rows that calibrate, in the order drawn; labels are 0, 1, ..., as the prevalences are ordered.

    Call it once for one set of rows, with a generator that knows nothing of them: an `ExhaustedClassError` is final.
    """
    y, pi = count("labels", labels, at_least=0), _prevalences(prevalences)
    if y.ndim != 1 or np.any(y >= pi.size):
        raise DomainError(f"labels must be a list of numbers from 0 to {pi.size - 1}.", field="labels")
    counts = np.bincount(y, minlength=pi.size)
    m = label_shift_draws(counts, pi, epsilon)
    cumulative = np.cumsum(pi)
    drawn = np.searchsorted(cumulative / cumulative[-1], generator.random(m), side="right")
    asked = np.bincount(drawn, minlength=pi.size)
    if np.any(asked > counts):
        scarce = int(np.argmax(asked - counts))
        raise ExhaustedClassError(
            f"Class {scarce} was drawn {asked[scarce]} times and has {counts[scarce]} rows, so there is no certificate "
            "from these rows; with another draw from them the promise would not hold. Calibrate on fresh rows.",
            field="labels",
        )
    rows = np.empty(m, dtype=np.int64)
    order = generator.permutation(y.size)
    by_class = order[np.argsort(y[order], kind="stable")]
    ends = np.cumsum(counts)
    for label in np.flatnonzero(asked):
        start = ends[label] - counts[label]
        rows[drawn == label] = by_class[start : start + asked[label]]
    return rows


def _run_out(m: int, counts: Ints, prevalences: Floats) -> float:
    """sum_y P(Binomial(m, pi_y) > n_y), rounded up."""
    scarce = counts < m
    n, pi = counts[scarce], prevalences[scarce]
    return math.fsum(betainc(n + 1.0, np.asarray(m - n, dtype=np.float64), pi)) * (1 + _ROUNDING)


def _prevalences(prevalences: ArrayLike) -> Floats:
    pi = finite("prevalences", prevalences)
    if pi.ndim != 1 or pi.size == 0:
        raise DomainError("prevalences must be a list of one number for each class.", field="prevalences")
    total = math.fsum(pi)
    if np.any(pi < 0) or abs(total - 1) > _ROUNDING:
        raise DomainError(
            f"prevalences must not be negative and must add up to 1, and these add up to {total:.6g}.",
            field="prevalences",
        )
    return pi / total
