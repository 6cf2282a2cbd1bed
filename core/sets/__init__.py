"""What a prediction set is: one kind per file, in batches of one set per row, found by name in `SET_KINDS`.

A kind of your own is a subclass of `PredictionSets` and an entry point in the group ``certiset.sets``.
"""

from functools import cache

from certiset.core.errors import SettingsError
from certiset.core.registry import Registry
from certiset.core.sets.balls import Balls
from certiset.core.sets.base import PredictionSets
from certiset.core.sets.boxes import Boxes
from certiset.core.sets.intervals import Intervals
from certiset.core.sets.labels import LabelSets

__all__ = ["SET_KINDS", "Balls", "Boxes", "Intervals", "LabelSets", "PredictionSets", "set_kind_of_code"]

SET_KINDS: Registry[type[PredictionSets]] = Registry("set kind", __name__, PredictionSets, group="certiset.sets")

_OWN_CODES, _CODES = range(64), range(128)


def set_kind_of_code(code: int) -> type[PredictionSets] | None:
    """The kind with that number in prediction ids, or None if it is unknown here."""
    return _by_code().get(code)


@cache
def _by_code() -> dict[int, type[PredictionSets]]:
    found: dict[int, type[PredictionSets]] = {}
    for name, kind in SET_KINDS.kinds.items():
        allowed = _OWN_CODES if name in SET_KINDS.own else _CODES[64:]
        if kind.code not in allowed or kind.code in found:
            raise SettingsError(
                f"The set kind {name!r} has the code {kind.code}, which is taken, "
                f"or not from {allowed[0]} to {allowed[-1]}."
            )
        found[kind.code] = kind
    return found
