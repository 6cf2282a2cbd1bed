"""The plan of a fit: all that is fixed before D_N is looked at, and thereby all that the promises may rest on."""

from dataclasses import dataclass, field

from certiset.core.certificate.group_prospects import GroupProspects
from certiset.core.certificate.guarantees import GUARANTEES, Guarantee, Step, point_guarantee, posterior_guarantee
from certiset.core.fit.options import FitOptions
from certiset.core.fit.target_rows import TargetRows
from certiset.core.scores import Score

DEFAULT_SPLIT = 0.5
"""of the methods that tune on a fixed share of the rows"""
_WORTHWHILE_NATS = 0.25


@dataclass(frozen=True)
class Plan:
    options: FitOptions
    """resolved for the model's task"""
    score: Score
    """as chosen; without its learned scale for the standard method"""
    n_tune: int
    """rows, or clusters, of D_0"""
    blocks: tuple[int, ...]
    """rows, or clusters, that calibrate: one block for each member of a pool, and otherwise one"""
    choices: list[str]
    """among which D_N may choose"""
    weights: list[float]
    """the share of delta and gamma of each choice"""
    steps: list[Step] = field(default_factory=list)
    """posterior steps, one for each choice where there are any"""
    target_rows: TargetRows | None = None
    """how rows were chosen, where the promise is for another population"""
    groups: GroupProspects | None = None
    """what each group may expect, and lacks, if the plan is not changed by what rows reveal"""

    @property
    def n(self) -> int:
        """Points of D_N."""
        return sum(self.blocks)

    @property
    def point_guarantee(self) -> Guarantee:
        """For the tuned parameters as they are."""
        if self.options.all_levels:
            return GUARANTEES["simultaneous"]
        return point_guarantee(self.options.bound)

    @property
    def posterior_guarantee(self) -> Guarantee:
        """For members that are drawn from a posterior."""
        return posterior_guarantee(self.options.guarantee, self.options.bound)

    def delta(self, choice: int) -> float:
        return self.options.own_delta * self.weights[choice]

    def gamma(self, choice: int) -> float:
        return self.options.own_gamma * self.weights[choice]


def tuning_count(options: FitOptions, rows: int) -> int:
    """How many of the rows, or clusters, tune where that is a fixed share."""
    if options.prior.train == "none":
        return 0
    return int((DEFAULT_SPLIT if options.prior.split is None else options.prior.split) * rows)


def plan_steps(options: FitOptions, n: int) -> list[Step]:
    """One for each level of the grid that leaves something to spend of its part of delta.

    Depends on no data, so that levels without a step need not be paid for: they are dropped until all that are left
    have one. What is dropped leaves more for the others, so none of them is lost again.
    """
    guarantee = posterior_guarantee(options.guarantee, options.bound)
    levels = list(options.levels)
    while levels:
        delta = options.own_delta / len(levels)
        steps = [guarantee.step(n, options.level, delta, level, options.members) for level in levels]
        worthwhile = [step for step in steps if step is not None and step.target >= _WORTHWHILE_NATS]
        if len(worthwhile) == len(levels):
            return worthwhile
        levels = [step.level for step in worthwhile]
    return []
