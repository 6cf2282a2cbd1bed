r"""The default: whichever of the other methods some revealed rows speak for.

Rows are revealed in random order. The first block tells, by cross-validation inside it, how small the sets would be
for the model as given and for a few ways to adapt it. Where none of them promises smaller sets, however many rows it is
given, the others calibrate at once. Otherwise a third is revealed, which costs little, and a second look decides: to
stop there, or to reveal up to half of the rows and let the others calibrate a pool that goes on learning.

**Why looking is free.** Let R be the revealed rows and U the others. Every choice (what is tuned and how, whether to
stop, how many blocks follow, their sizes, weights and ranks) is a function of R and of randomness that does not depend
on the rows. Rows are independent draws and their order is random, so that given R those of U are independent draws from
the same law, and their number is known. So for each value of R the promise of the method that is taken, Vovk 2b for one
block and the progressive pool for several, holds with probability 1 - delta over U; hence it holds with that
probability over all rows. There is no union over the choices, since none of them looks at U, and R calibrates nothing.
The freedom ends when the first block is opened.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from certiset.core.bounds import TooFewPointsError
from certiset.core.certificate.pool_parts import PoolPlan
from certiset.core.certificate.selection import Selection
from certiset.core.errors import OptionError
from certiset.core.fit.candidates import point_candidate
from certiset.core.fit.comparison import compare, selection_of
from certiset.core.fit.families import Family, families_of
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.forecast import Trial, Way, best_way
from certiset.core.fit.group_pool import are_large_enough
from certiset.core.fit.grouping import count_groups, is_grouped
from certiset.core.fit.member_tuning import tune_member
from certiset.core.fit.methods.base import Method, check_points
from certiset.core.fit.only_candidate import certify_candidate
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan
from certiset.core.fit.pool_fit import block_sizes, fit_pool
from certiset.core.fit.workspace import Workspace

_FEWEST_TO_REVEAL, _FEWEST_FOR_A_FIFTH = 400, 800
_FIRST_SHARES = (0.1, 0.2)
_SECOND_SHARE, _LATER_SHARE = 0.35, 0.5
"""of all rows: for a second look, and to begin a pool with"""
_FOLDS = 3
_PARTS = (0.5, 1.0)
"""of the rows that could tune at the first look: two points of a learning curve"""
_FEWEST_OF_A_GROUP, _SHARE_OF_GROUPS = 200, 0.1
"""rows for each group with a threshold from which some are revealed, and how many of all are"""
_TAKEN_ALONG = 2
"""candidates that are looked at once more"""


class Auto(Method):
    guarantees: ClassVar[tuple[str, ...]] = ("per_draw", "pool")
    split: ClassVar[float | None] = None
    chooses: ClassVar[bool] = True

    def check(self, options: FitOptions) -> None:
        super().check(options)
        if options.prior.split is not None:
            raise OptionError(
                "method auto chooses prior.split itself, by what revealed rows say: leave it out, or choose method "
                "learned, progressive or pac_bayes.",
                field="prior.split",
            )

    def guarantee_of(self, options: FitOptions) -> str:
        """Which of them it will be is seen on the way; one member alone needs a promise of its own."""
        alone = options.serve == "best" or options.all_levels
        return "per_draw" if alone and options.guarantee == "auto" else options.guarantee

    def tuned_rows(self, options: FitOptions, rows: int) -> int | None:
        return None

    def plan(self, options: FitOptions, rows: int, unit: str = "rows") -> Plan:
        first = _revealed_first(options, rows)
        plan = Plan(options, options.chosen_score, first, (rows - first,), ["chosen on revealed rows"], [1.0])
        if rows - first < _fewest(plan):
            # What a small alpha needs is not given away for a look.
            plan = replace(plan, n_tune=0, blocks=(rows,))
        check_points(plan, unit, 0.0)
        return plan

    def for_groups(self, plan: Plan, groups: int | None) -> Plan:
        """Each group's rows are fewer, and what is revealed costs its sets more: few are, or none.

        Not none where nobody may know how many groups there are: who is listed is read off those that are revealed.
        """
        rows = plan.n_tune + plan.n
        first = int(_SHARE_OF_GROUPS * rows) if groups is None or rows >= _FEWEST_OF_A_GROUP * groups else 0
        return replace(plan, n_tune=first, blocks=(rows - first,)) if first < plan.n_tune else plan

    def run(self, work: Workspace) -> Fitted:
        first, rows = work.plan.n_tune, work.plan.n_tune + work.plan.n
        if not first:
            return _as_given(work, Selection(0, [], "as given", _why_nothing_is_revealed(work.plan, work.unit)))
        trials = compare(work, first, families_of(work), _PARTS, _FOLDS)
        second, later = int(_SECOND_SHARE * rows), int(_LATER_SHARE * rows)
        may_go_on = first < second < later and rows - later >= _fewest(work.plan)
        if is_grouped(work.plan.options, work.data):
            blocks = _blocks(work.plan.options, rows - later)
            may_go_on = may_go_on and are_large_enough(work, first, later, blocks)
        way = _decide(work, trials, first, later if may_go_on else None, looks_again=True)
        if not way.goes_on:
            return _stopped(work, trials, way, first)
        known = {trial.name: trial for trial in trials}
        again = [
            trial.after(known[trial.name])
            for trial in compare(work, second, _few(trials, later), folds=_FOLDS, done=0.5)
        ]
        way = _decide(work, again, second, later, looks_again=False)
        looks = [*trials, *again]
        if not way.goes_on:
            work = work.with_plan(replace(work.plan, n_tune=second, blocks=(rows - second,)))
            return _stopped(work, looks, way, second)
        family, blocks = way.trial.family, _blocks(work.plan.options, rows - later)
        assert family is not None
        work = work.with_plan(replace(work.plan, n_tune=later, blocks=blocks))
        better = f"More {work.unit} make {_the(way.trial)} better than the model as given, so {later} of {rows} were "
        if len(blocks) == 1:
            reason = f"{better}revealed, which tune it; the others calibrate it."
            return _tuned(work, way.trial, selection_of(later, looks, way.trial, reason))
        reason = (
            f"{better}revealed; the others calibrate {len(blocks)} members, each tuned on all {work.unit} before its "
            "own block."
        )
        return replace(fit_pool(work, family, way.trial.pull), selection=selection_of(later, looks, way.trial, reason))


def _revealed_first(options: FitOptions, rows: int) -> int:
    if rows < _FEWEST_TO_REVEAL or options.prior.train == "none":
        return 0
    return int(_FIRST_SHARES[rows >= _FEWEST_FOR_A_FIFTH] * rows)


def _why_nothing_is_revealed(plan: Plan, unit: str) -> str:
    if plan.options.prior.train == "none":
        return f"Nothing was to be tuned, so that all {plan.n} {unit} calibrate the model as it is."
    return f"{plan.n} {unit} are too few to set some aside: all of them calibrate the model as it is."


def _fewest(plan: Plan) -> int:
    """Points that a single member needs to be calibrated."""
    needed = plan.point_guarantee.smallest_n(plan.options.level, plan.delta(0))
    assert needed is not None
    return needed


def _blocks(options: FitOptions, n: int) -> tuple[int, ...]:
    """Those of a pool, or one where none is wanted or none of these would keep the promise."""
    if options.guarantee == "per_draw":
        return (n,)
    blocks = block_sizes(n)
    try:
        return PoolPlan.of(blocks, options.level, options.own_delta).sizes if len(blocks) > 1 else blocks
    except TooFewPointsError:
        return (n,)


def _few(trials: list[Trial], rows: int) -> list[Family]:
    """The candidates that will be best with so many rows, so far as one can tell."""
    tuned = sorted((trial for trial in trials if trial.family is not None), key=lambda trial: trial.at(rows))
    kept: dict[str, Family] = {}
    for trial in tuned[:_TAKEN_ALONG]:
        assert trial.family is not None
        known = kept.get(trial.family.name)
        kept[trial.family.name] = replace(
            trial.family, pulls=(trial.pull,) if known is None else (*known.pulls, trial.pull)
        )
    return list(kept.values())


def _decide(work: Workspace, trials: list[Trial], revealed: int, later: int | None, *, looks_again: bool) -> Way:
    options = work.plan.options
    return best_way(
        trials,
        revealed,
        work.plan.n_tune + work.plan.n,
        later,
        alpha=options.level,
        delta=options.own_delta,
        outputs=work.model.outputs,
        looks_again=looks_again,
        groups=(count_groups(options, work.data) or 1) if is_grouped(options, work.data) else 1,
    )


def _stopped(work: Workspace, looks: list[Trial], way: Way, revealed: int) -> Fitted:
    trial, rows = way.trial, work.plan.n_tune + work.plan.n
    if trial.family is None:
        reason = (
            f"On {revealed} revealed {work.unit} no tuned model gave clearly smaller sets than the model as given, "
            f"so it is taken as it is, and the other {rows - revealed} calibrate it."
        )
        return _as_given(work, selection_of(revealed, looks, way.trial, reason))
    reason = (
        f"On {revealed} revealed {work.unit} {_the(trial)} gave sets of {np.exp(trial.heights[1]):.2f} times the size "
        f"that those of the model as given have, and more {work.unit} would not pay: the other {rows - revealed} "
        "calibrate it."
    )
    return _tuned(work, trial, selection_of(revealed, looks, trial, reason))


def _tuned(work: Workspace, trial: Trial, selection: Selection) -> Fitted:
    """One member, tuned on what is revealed, and calibrated on all else."""
    assert trial.family is not None
    theta = tune_member(work, trial.family, trial.pull, work.plan.n_tune)
    fitted = certify_candidate(work, trial.family.scorer, point_candidate(work.plan, 0, theta))
    return replace(fitted, selection=selection)


def _as_given(work: Workspace, selection: Selection) -> Fitted:
    candidate = point_candidate(work.plan, 0, work.nothing_tuned())
    return replace(certify_candidate(work, work.given_scorer(), candidate), selection=selection)


def _the(trial: Trial) -> str:
    assert trial.family is not None
    return f"a tuned {trial.family.name}"


AUTO = Auto("auto")
