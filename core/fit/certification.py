"""From a candidate to what is certified about it: what it costs on D_N, and what is promised for it."""

import math
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from torch import Tensor

from certiset.core.bounds import EfficiencyBound
from certiset.core.certificate import Coverage, Efficiency, Member, Union
from certiset.core.certificate.content import EXACT, Caveat, SizeQuantile
from certiset.core.certificate.open_sizes import next_open_size, open_sizes
from certiset.core.certificate.sizes import (
    GRID_BETTING,
    NO_CAP,
    QUANTILE_SHARE,
    SizeNumbers,
    reason_against,
)
from certiset.core.fit.candidates import Candidate
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.plan import Plan
from certiset.core.fit.reference_rows import ReferenceRows, make_reference
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import GRID_POINTS, Calibrated, calibrate, fixed_grid, size_cap
from certiset.core.fit.workspace import Workspace
from certiset.core.sets.measures import MEASURES

_SMALLEST_N_OF_GRID = 8
_MOST_COUNTED = 4
"""members whose widths are counted on the certificate, which would be long with more"""


@dataclass(frozen=True)
class Parts:
    """The rows that a candidate is calibrated on, and what was fixed about sizes without them."""

    places: Tensor
    calibration: Rows
    tuning: Rows | None
    cap: float | None
    reference: ReferenceRows | None


def calibration_of(work: Workspace, scorer: Scorer) -> Parts:
    """D_N and D_0 of the plan."""
    places, tuning = work.calibration(), work.tuning()
    reference = make_reference(scorer, work.data, places, work.dtype)
    return Parts(places, work.take(places), tuning, size_cap(scorer, tuning, work.plan.options.size_cap), reference)


@dataclass(frozen=True)
class Certified:
    """A candidate with its thresholds and what is certified about the size of its sets."""

    candidate: Candidate
    places: Tensor
    calibrated: Calibrated
    bound: str | None
    grid_size: int | None
    cap: float | None
    member_bounds: list[float] | None
    upper_bound: float | None
    size_ranks: list[int]
    open_sizes: int | None = None
    """how many sizes were open to the quantile; None where thresholds were rounded up for it"""
    dimensions: int | None = None
    """of the targets, where all sets have one volume"""

    @property
    def cost(self) -> tuple[float, float]:
        """Smaller is better: the certified size, then the size on D_N."""
        return (self.upper_bound if self.upper_bound is not None else self.mean_size, self.mean_size)

    @property
    def mean_size(self) -> float:
        return float(np.mean(self.calibrated.size))

    @property
    def has_quantile(self) -> bool:
        """Whether there is one for every member."""
        return all(self.size_ranks) and all(map(math.isfinite, self.calibrated.size_quantile))

    def reason_against(self, measure: str) -> str | None:
        """Why the mean size should not be stated, although there may be a bound."""
        if self.bound == EXACT:
            return None
        if self.upper_bound is None or self.cap is None:
            return NO_CAP
        return reason_against(measure, self.upper_bound, self.cap, self.mean_size)


def certify(plan: Plan, scorer: Scorer, candidate: Candidate, parts: Parts) -> Certified:
    """Calibrates the candidate exactly and bounds the size of its sets.

    The quantile of the size is at the threshold itself if the sizes that it may take are fixed: labels, and where no
    tuning rows fix a grid of thresholds, a ladder. The mean always needs such a grid.
    """
    measure, has_one_size, cap = scorer.score.sets.measure, scorer.score.one_size is not None, parts.cap
    wanted = plan.n >= _SMALLEST_N_OF_GRID and not has_one_size
    grid = parts.tuning if wanted and cap is not None else None
    fixed = fixed_grid(scorer, cap) if wanted and cap is not None and parts.tuning is None else []
    sizes = open_sizes(measure, cap) if MEASURES[measure].is_count or grid is None else None
    numbers = SizeNumbers(
        log_ratios=np.asarray(candidate.log_ratios),
        n=plan.n,
        gamma=plan.gamma(candidate.choice),
        draws=candidate.draws,
        grid_size=GRID_POINTS if grid is not None else len(fixed) or None,
        drawn=candidate.guarantee.needs_posterior,
    )
    ranks = numbers.quantile_ranks(sizes=sizes).tolist()
    bound = _size_bound(plan, scorer, candidate.pool, has_grid=numbers.grid_size is not None)
    calibrated = calibrate(
        scorer,
        candidate.theta,
        parts.calibration,
        candidate.ranks,
        tuning=grid,
        cap=cap,
        fixed=fixed,
        size_ranks=ranks,
        sizes_at_grid=sizes is None,
        reference=parts.reference,
        around=plan.options.level if bound == GRID_BETTING else None,
    )
    if has_one_size:
        return _of_one_size(scorer, candidate, parts, calibrated)
    if sizes is not None:
        named = [next_open_size(measure, cap, size) for size in calibrated.size_quantile]
        calibrated = replace(calibrated, size_quantile=named)
    found = Certified(candidate, parts.places, calibrated, None, None, cap, None, None, ranks, sizes)
    if cap is None:
        return found
    if bound == GRID_BETTING:
        bounds = cap * numbers.betting_bounds(calibrated.counts)
    else:
        bounds = cap * numbers.mean_bounds(np.asarray(calibrated.efficiency), cast(EfficiencyBound, bound))
    return replace(
        found,
        bound=bound,
        grid_size=numbers.grid_size,
        member_bounds=bounds.tolist(),
        upper_bound=float(bounds.mean()),
    )


def _of_one_size(scorer: Scorer, candidate: Candidate, parts: Parts, calibrated: Calibrated) -> Certified:
    """All sets of a threshold are equally large: that needs no bound."""
    sizes = sizes_of_one(scorer, calibrated)
    mean, ranks, dimensions = float(np.mean(sizes)), [0] * len(sizes), dimensions_of(scorer)
    return Certified(candidate, parts.places, calibrated, EXACT, None, parts.cap, sizes, mean, ranks, None, dimensions)


def sizes_of_one(scorer: Scorer, calibrated: Calibrated) -> list[float]:
    """The size of every set of each member, for a score whose sets have one."""
    law = scorer.score.one_size
    assert law is not None
    each = zip(calibrated.largest, calibrated.tau, strict=True)
    return [max(size, law.at(tau, dimensions_of(scorer))) for size, tau in each]


def dimensions_of(scorer: Scorer) -> int | None:
    """Of volumes."""
    return scorer.model.outputs if MEASURES[scorer.score.sets.measure].is_power else None


def _size_bound(plan: Plan, scorer: Scorer, members: int, *, has_grid: bool) -> str:
    """By the option, or the tightest whose numbers fit on a certificate; fixed before D_N is seen."""
    asked = plan.options.size_bound
    if not has_grid or asked == "monotone":
        return "monotone"
    if asked == "auto":
        asked = "betting" if scorer.score.cap_is_fixed or members <= _MOST_COUNTED else "grid_kl"
    return GRID_BETTING if asked == "betting" else asked


def fitted(work: Workspace, scorer: Scorer, certified: Certified) -> Fitted:
    plan, candidate = work.plan, certified.candidate
    coverage = _coverage(plan, candidate)
    against = certified.reason_against(plan.score.sets.measure)
    return Fitted(
        scorer=scorer,
        theta=candidate.theta,
        n_tune=plan.n_tune,
        blocks=[certified.places] * len(candidate.ranks),
        coverage=coverage,
        members=_members(coverage, certified, stated=against is None),
        efficiency=_efficiency(plan, certified, stated=against is None),
        rounding=certified.calibrated.rounding,
        caveats=[] if against is None else [Caveat("mean_size_not_certified", against)],
    )


def _coverage(plan: Plan, candidate: Candidate) -> Coverage:
    options, guarantee = plan.options, candidate.guarantee
    levels = guarantee.levels(
        plan.n,
        options.level,
        options.own_delta,
        plan.delta(candidate.choice),
        candidate.k,
        candidate.kl,
        len(candidate.ranks),
    )
    return Coverage(
        alpha=options.level,
        delta=options.own_delta,
        guarantee=guarantee.name,
        bound=guarantee.bound,
        n=plan.n,
        kl=candidate.kl,
        kl_budget=candidate.kl_budget,
        miscoverage_bound=levels.miscoverage_bound,
        pool_miscoverage_bound=levels.pool_miscoverage_bound,
        pool_delta=levels.pool_delta,
        alpha_hat=candidate.k / (plan.n + 1),
        k=candidate.k,
        draws=candidate.draws,
        ranks=candidate.open_ranks,
        rank_weights=candidate.rank_weights,
        union=Union(plan.choices, plan.weights, candidate.choice),
    )


def _members(coverage: Coverage, certified: Certified, *, stated: bool) -> list[Member]:
    candidate, calibrated = certified.candidate, certified.calibrated
    alone = candidate.guarantee.member_alpha(coverage)
    bounds = certified.member_bounds if stated else None
    return [
        Member(
            member=place,
            k=candidate.ranks[place],
            tau=calibrated.tau[place],
            log_ratio=candidate.log_ratios[place],
            miscoverage_bound=alone,
            efficiency_empirical=calibrated.efficiency[place] if calibrated.efficiency else None,
            efficiency_bound=bounds[place] if bounds else None,
            size_k=certified.size_ranks[place] if certified.has_quantile else None,
            size_quantile=calibrated.size_quantile[place] if certified.has_quantile else None,
            size_counts=calibrated.counts[place].to_json() if bounds and certified.bound == GRID_BETTING else None,
            tie=calibrated.tie[place] if calibrated.tie else None,
            distance=candidate.distances[place] if candidate.distances else None,
        )
        for place in range(len(candidate.ranks))
    ]


def _efficiency(plan: Plan, certified: Certified, *, stated: bool) -> Efficiency:
    gamma = plan.options.own_gamma
    quantile = None
    if certified.has_quantile:
        largest = max(certified.calibrated.size_quantile)
        quantile = SizeQuantile(QUANTILE_SHARE, largest, gamma, sizes=certified.open_sizes)
    return Efficiency(
        measure=plan.score.sets.measure,
        bound=certified.bound if stated else None,
        gamma=gamma,
        empirical=certified.mean_size,
        upper_bound=certified.upper_bound if stated else None,
        cap=certified.cap,
        grid_size=certified.grid_size,
        monte_carlo=0.0,
        quantile=quantile,
        size_steps=certified.calibrated.counts[0].steps if stated and certified.bound == GRID_BETTING else None,
        dimensions=certified.dimensions,
    )
