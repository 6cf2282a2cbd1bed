"""A member tuned on all rows before those that calibrate it, under a pull towards the model as given."""

from dataclasses import replace

from torch import Tensor

from certiset.core.fit.families import Family
from certiset.core.fit.tuning import tune_pulled
from certiset.core.fit.workspace import Workspace

_LATER_STEPS = 0.4
"""of the first member's: the next one begins where that one ended"""


def tune_member(
    work: Workspace,
    family: Family,
    pull: float,
    revealed: int,
    start: Tensor | None = None,
    turn: tuple[int, int] = (0, 1),
) -> Tensor:
    """(d,): tuned on the first rows, from the model as given or from an earlier member.

    ``turn`` says which of how many members it is, for those who are told how far the fit is.
    """
    rows, schedule, (place, count) = work.tuning(revealed), family.schedule, turn
    assert rows is not None
    if start is not None:
        schedule = replace(schedule, steps=int(_LATER_STEPS * schedule.steps))
    theta = tune_pulled(
        family.scorer,
        rows,
        [pull],
        work.plan.options,
        schedule,
        work.generator(1),
        start=None if start is None else start.unsqueeze(0),
        progress=lambda step, steps, loss: work.report("tune", place * steps + step, count * steps, loss=loss),
        should_stop=work.should_stop,
    )
    work.stop_if_asked()
    return theta[0]
