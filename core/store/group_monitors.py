"""What a monitor has seen of every group that has a threshold of its own.

Each group is a bet of its own against "this group is missed at most alpha of the time", with its part of eta: so that
any alarm is false with probability at most eta. For classes the group of an outcome is its truth.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from certiset.core.bounds import Supermartingale
from certiset.core.store.monitors import Levels
from certiset.core.store.records import Monitor

GroupsSeen: TypeAlias = dict[int, Supermartingale]


def groups_seen(monitor: Monitor, alpha: float) -> GroupsSeen:
    return {int(place): _read(alpha, seen) for place, seen in (monitor.groups or {}).items()}


def updated(seen: GroupsSeen, alpha: float, outcomes: Iterable[tuple[int | None, bool]]) -> GroupsSeen:
    """After further outcomes, each with its group (None: nothing is promised for it) and whether it was missed."""
    missed: dict[int, list[bool]] = {}
    for place, miss in outcomes:
        if place is not None:
            missed.setdefault(place, []).append(miss)
    changed = {place: seen.get(place, Supermartingale(alpha)).update_many(flags) for place, flags in missed.items()}
    return seen | changed


def watch_groups(
    monitor: Monitor, levels: Levels, outcomes: Iterable[tuple[int | None, bool]], *, anew: bool = False
) -> bool:
    """Counts the outcomes for their groups, or ``anew`` all there are; whether some group contradicts its promise."""
    if levels.eta_group is None:
        return False
    before = {} if anew else groups_seen(monitor, levels.alpha)
    seen = updated(before, levels.alpha, outcomes)
    monitor.groups = written(seen)
    return any(one.contradicted(levels.eta_group) for one in seen.values())


def written(seen: GroupsSeen) -> dict[str, Any] | None:
    """As the monitor's row has it; None where no group is watched."""
    return {str(place): [one.outcomes, one.misses, one.log_peak] for place, one in sorted(seen.items())} or None


def _read(alpha: float, seen: list[float]) -> Supermartingale:
    outcomes, misses, log_peak = seen
    return Supermartingale(alpha, outcomes=int(outcomes), misses=int(misses), log_peak=float(log_peak))
