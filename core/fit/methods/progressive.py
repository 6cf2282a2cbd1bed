"""A pool that learns as it goes: member k is tuned on D_0 and on all blocks before its own, and calibrated on that.

Which parameters move and how strongly they are pulled back is chosen by cross-validation inside D_0, which costs
nothing. The promise is for the mean over the stored pool (`certiset.core.bounds.progressive`).
"""

from dataclasses import replace
from typing import ClassVar

from certiset.core.bounds import TooFewPointsError
from certiset.core.certificate.pool_parts import PoolPlan
from certiset.core.errors import OptionError
from certiset.core.fit.comparison import compare, selection_of
from certiset.core.fit.families import families_of
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.methods.base import Method
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan, tuning_count
from certiset.core.fit.pool_fit import SMALLEST_BLOCK, block_sizes, fit_pool
from certiset.core.fit.workspace import Workspace

_FEWEST_TO_TUNE = 2
"""so that each of them is measured once by a member that was not tuned on it"""


class Progressive(Method):
    guarantees: ClassVar[tuple[str, ...]] = ("pool",)
    chooses: ClassVar[bool] = True

    def check(self, options: FitOptions) -> None:
        super().check(options)
        if options.prior.train == "none" or options.prior.split == 0:
            raise OptionError(
                "method progressive tunes its first member on rows of its own: prior.train none and prior.split 0 "
                "leave it none. Choose method standard.",
                field="prior",
            )
        if options.size_bound not in ("auto", "betting"):
            raise OptionError(
                f"size_bound {options.size_bound} is for members by themselves, and the size of a pool is bounded by "
                "betting: leave it out, or choose method learned.",
                field="size_bound",
            )

    def plan(self, options: FitOptions, rows: int, unit: str = "rows") -> Plan:
        n_tune = tuning_count(options, rows)
        if n_tune < _FEWEST_TO_TUNE:
            raise TooFewPointsError(
                f"{rows} {unit} leave {n_tune} to tune the first member of a pool, and at least {_FEWEST_TO_TUNE} are "
                "needed: choose a larger prior.split.",
                _FEWEST_TO_TUNE,
            )
        blocks = block_sizes(rows - n_tune)
        if len(blocks) < 2:
            needed = 2 * SMALLEST_BLOCK
            share = n_tune / rows
            raise TooFewPointsError(
                f"{rows} {unit} leave n = {rows - n_tune} for the blocks of a pool, too few for two of "
                f"{SMALLEST_BLOCK}: at least {int(needed / (1 - share)) + 1} {unit} are needed. Method learned needs "
                "fewer.",
                needed,
            )
        PoolPlan.of(blocks, options.level, options.own_delta)
        return Plan(options, options.chosen_score, n_tune, blocks, ["chosen on D_0"], [1.0])

    def run(self, work: Workspace) -> Fitted:
        looks = compare(work, work.plan.n_tune, families_of(work))
        best = min((trial for trial in looks if trial.family is not None), key=lambda trial: trial.heights[1])
        assert best.family is not None
        reason = (
            f"Of {len(looks) - 1} candidates that were compared on the {work.plan.n_tune} {work.unit} that tune the "
            f"first member, {best.name} gave the smallest sets, and so every member is tuned that way."
        )
        fitted = fit_pool(work, best.family, best.pull)
        return replace(fitted, selection=selection_of(work.plan.n_tune, looks, best, reason))


PROGRESSIVE = Progressive("progressive")
