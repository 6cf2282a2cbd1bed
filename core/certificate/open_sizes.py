"""The sizes that a certified quantile may name: fixed before any data, so that thresholds need no grid.

Of labels every count that a set may have, of many labels only some, at most a sixteenth apart. Of widths and volumes
the numbers with five binary digits: a ladder without a unit, which needs to know nothing of the targets.
"""

import math

from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.content import Efficiency, SizeQuantile
from certiset.core.sets.measures import MEASURES

_DIGITS = 5
_REACH = 128
"""powers of two to either side of 1"""
_LADDER = 2 * _REACH * 2 ** (_DIGITS - 1) + 1
_SHARE = 16


def open_sizes(measure: str, cap: float | None) -> int:
    """How many there are to pay for; that no set has more than all labels needs no payment."""
    return max(len(_counts(cap)) - 1, 1) if cap is not None and _counts_labels(measure) else _LADDER


def next_open_size(measure: str, cap: float | None, size: float) -> float:
    """The smallest one that is at least ``size``; infinite beyond the last."""
    if cap is not None and _counts_labels(measure):
        return next((float(count) for count in _counts(cap) if count >= size), math.inf)
    if size <= 2.0**-_REACH:
        return 2.0**-_REACH
    if not size <= 2.0**_REACH:
        return math.inf
    mantissa, exponent = math.frexp(size)
    return math.ldexp(math.ceil(math.ldexp(mantissa, _DIGITS)), exponent - _DIGITS)


def _counts_labels(measure: str) -> bool:
    return measure in MEASURES and MEASURES[measure].is_count


def _counts(classes: float) -> list[int]:
    counts, most = [1], int(classes)
    while counts[-1] < most:
        counts.append(min(counts[-1] + max(1, counts[-1] // _SHARE), most))
    return counts


def open_size_checks(efficiency: Efficiency, quantile: SizeQuantile) -> list[Check]:
    """That the size is one of those that were open, and that all of them were counted."""
    if quantile.sizes is None:
        return []
    measure, cap = efficiency.measure, efficiency.cap
    return [
        equal("open sizes", open_sizes(measure, cap), quantile.sizes),
        equal("size among the open ones", next_open_size(measure, cap, quantile.size), quantile.size),
    ]
