"""Alarms of the monitor over many streams of outcomes at once."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from certiset.core.bounds import Supermartingale

Flags = NDArray[np.bool_]
_ROUND = 1000
_WINDOW = 24
_CHECKED = 5
"""streams of each batch that are also given to the monitor itself"""


@cache
def latest_alarms(alpha: float, eta: float, length: int) -> NDArray[np.int64]:
    """For each number of misses the latest outcome at which so many raise an alarm; 0 where they never do.

    The capital depends on the numbers of outcomes and misses alone, and falls with every outcome that is covered.
    """
    latest = [0]
    while latest[-1] < length and len(latest) <= length:
        misses = len(latest)
        # One miss more raises the capital, so that the search may begin where one miss less ended.
        latest.append(_last(Supermartingale(alpha, outcomes=max(latest[-1], misses), misses=misses), eta, length))
    return np.array(latest)


def _last(state: Supermartingale, eta: float, length: int) -> int:
    if not state.contradicted(eta):
        return 0
    while state.outcomes < length:
        below = np.flatnonzero(state.path(np.zeros(_WINDOW)) < -np.log(eta))
        if below.size:
            return state.outcomes + int(below[0])
        state = Supermartingale(state.alpha, outcomes=state.outcomes + _WINDOW, misses=state.misses)
    return length


def alarms(missed: Flags, alpha: float, eta: float) -> int:
    """Of (streams, outcomes): in how many the certificate is contradicted at some time."""
    # Rounded up, so that streams of nearly equal lengths are looked up in the same table.
    latest = latest_alarms(alpha, eta, -(-missed.shape[1] // _ROUND) * _ROUND)
    misses = np.cumsum(missed, axis=1, dtype=np.int32)
    fatal = latest[np.minimum(misses, len(latest) - 1)] >= np.arange(1, missed.shape[1] + 1)
    found: Flags = np.asarray(fatal.any(axis=1))
    for stream in range(min(_CHECKED, len(missed))):
        assert Supermartingale(alpha).update_many(missed[stream]).contradicted(eta) == found[stream]
    return int(np.count_nonzero(found))


def first_of_each(names: NDArray[np.int64], missed: Flags) -> Flags:
    """Of one stream, in order, the first outcome of each name: what counts once a case or once an input."""
    return missed[np.sort(np.unique(names, return_index=True)[1])]
