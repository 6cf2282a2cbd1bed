"""From a candidate to its certificate: what it costs on D_N, what is promised for it, and the document that says so."""

import importlib.metadata
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache

import numpy as np

from certiset.core.bounds import EfficiencyBound
from certiset.core.certificate import Certificate, Coverage, Efficiency, Member, Provenance, Union
from certiset.core.certificate.account import family_sentence
from certiset.core.certificate.assumptions import assumptions_of
from certiset.core.certificate.canaries import Canaries
from certiset.core.certificate.content import FORMAT, Caveat, Data, ModelFacts, Names, SizeQuantile
from certiset.core.certificate.open_sizes import next_open_size, open_sizes
from certiset.core.certificate.size_statement import size_statement
from certiset.core.certificate.sizes import NO_CAP, ONE_SIZE, QUANTILE_SHARE, SizeNumbers, one_size, reason_against
from certiset.core.fit.candidates import Candidate
from certiset.core.fit.plan import Plan
from certiset.core.fit.reference_rows import ReferenceRows
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import GRID_POINTS, Calibrated, calibrate, fixed_grid

_SMALLEST_N_OF_GRID = 8


@dataclass(frozen=True)
class Certified:
    """A candidate with its thresholds and what is certified about the size of its sets."""

    candidate: Candidate
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
        if self.bound == "exact":
            return None
        if self.upper_bound is None or self.cap is None:
            return NO_CAP
        return reason_against(measure, self.upper_bound, self.cap, self.mean_size)


def certify(
    plan: Plan,
    scorer: Scorer,
    candidate: Candidate,
    calibration: Rows,
    tuning: Rows | None,
    cap: float | None,
    reference: ReferenceRows | None = None,
) -> Certified:
    """Calibrates the candidate exactly and bounds the size of its sets.

    The quantile of the size is at the threshold itself if the sizes that it may take are fixed: labels, and where no
    tuning rows fix a grid of thresholds, a ladder. The mean always needs such a grid.
    """
    measure, has_one_size = scorer.score.sets.measure, scorer.score.kind in ONE_SIZE
    wanted = plan.n >= _SMALLEST_N_OF_GRID and not has_one_size
    grid = tuning if wanted and cap is not None else None
    fixed = fixed_grid(scorer, cap) if wanted and cap is not None and tuning is None else []
    sizes = open_sizes(measure, cap) if measure == "labels" or grid is None else None
    numbers = SizeNumbers(
        log_ratios=np.asarray(candidate.log_ratios),
        n=plan.n,
        gamma=plan.gamma(candidate.choice),
        draws=candidate.draws,
        grid_size=GRID_POINTS if grid is not None else len(fixed) or None,
        drawn=candidate.guarantee.needs_posterior,
    )
    ranks = numbers.quantile_ranks(sizes=sizes).tolist()
    calibrated = calibrate(
        scorer,
        candidate.theta,
        calibration,
        candidate.ranks,
        tuning=grid,
        cap=cap,
        fixed=fixed,
        size_ranks=ranks,
        sizes_at_grid=sizes is None,
        reference=reference,
    )
    if has_one_size:
        return _of_one_size(scorer, candidate, calibrated, cap)
    if sizes is not None:
        named = [next_open_size(measure, cap, size) for size in calibrated.size_quantile]
        calibrated = replace(calibrated, size_quantile=named)
    if cap is None:
        return Certified(candidate, calibrated, None, None, None, None, None, ranks, sizes)
    bound: EfficiencyBound = "grid_kl" if numbers.grid_size is not None else "monotone"
    bounds = cap * numbers.mean_bounds(np.asarray(calibrated.efficiency), bound)
    return Certified(
        candidate, calibrated, bound, numbers.grid_size, cap, bounds.tolist(), float(bounds.mean()), ranks, sizes
    )


def _of_one_size(scorer: Scorer, candidate: Candidate, calibrated: Calibrated, cap: float | None) -> Certified:
    """All sets of a threshold are equally large: that needs no bound."""
    dimensions = scorer.model.outputs if scorer.score.sets.measure == "volume" else None
    sizes = [
        max(size, one_size(scorer.score.kind, tau, dimensions))
        for size, tau in zip(calibrated.largest, calibrated.tau, strict=True)
    ]
    mean = float(np.mean(sizes))
    return Certified(candidate, calibrated, "exact", None, cap, sizes, mean, [0] * len(sizes), None, dimensions)


def issue(
    plan: Plan,
    certified: Certified,
    *,
    members_sha256: str,
    predictor_sha256: str,
    model_sha256: str,
    dataset_sha256: str,
    device: str,
    messages: list[str],
    caveats: list[Caveat],
    data: Data,
    model: ModelFacts,
    names: Names,
    canaries: Canaries | None = None,
) -> Certificate:
    """The certificate of the choice taken, named by its own content."""
    coverage = _coverage(plan, certified.candidate)
    against = certified.reason_against(plan.score.sets.measure)
    members = _members(coverage, certified, stated=against is None)
    if against is not None:
        caveats = [*caveats, Caveat("mean_size_not_certified", against)]
    certificate = Certificate(
        id="",
        predictor_id="",
        issued_at=datetime.now(UTC).isoformat(timespec="seconds"),
        statement="",
        assumptions=[],
        coverage=coverage,
        members=members,
        efficiency=_efficiency(plan, certified, stated=against is None),
        provenance=Provenance(
            dataset_sha256=dataset_sha256,
            model_sha256=model_sha256,
            members_sha256=members_sha256,
            n_tune=plan.n_tune,
            n_calibrate=plan.n,
            seed=plan.options.seed,
            software=dict(_versions()),
            device=device,
            method=plan.options.method,
            score=plan.score.kind,
            messages=messages,
            predictor_sha256=predictor_sha256,
        ),
        signature=None,
        format=FORMAT,
        caveats=caveats,
        data=data,
        options={name: value for name, value in plan.options.to_json().items() if name != "device"},
        model=model,
        names=names,
        canaries=canaries,
    )
    statement = certified.candidate.guarantee.statement(certificate) + family_sentence(certificate)
    certificate = replace(
        certificate,
        statement=statement,
        size_statement=size_statement(certificate),
        assumptions=assumptions_of(certificate),
    )
    # Named by all that is promised, not by the members alone: one predictor has one certificate.
    certificate = replace(certificate, predictor_id=f"pred-{certificate.digest[:20]}")
    return replace(certificate, id=certificate.digest_id)


@cache
def _versions() -> Mapping[str, str]:
    """Read once: to read them takes longer than a small fit."""
    return {name: importlib.metadata.version(name) for name in ("certiset", "numpy", "scipy", "torch")}


def _coverage(plan: Plan, candidate: Candidate) -> Coverage:
    options, guarantee = plan.options, candidate.guarantee
    levels = guarantee.levels(
        plan.n,
        options.alpha,
        options.own_delta,
        plan.delta(candidate.choice),
        candidate.k,
        candidate.kl,
        len(candidate.ranks),
    )
    return Coverage(
        alpha=options.alpha,
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
        )
        for place in range(len(candidate.ranks))
    ]


def _efficiency(plan: Plan, certified: Certified, *, stated: bool) -> Efficiency:
    gamma = plan.options.own_gamma
    quantile = None
    if certified.has_quantile:
        largest = max(certified.calibrated.size_quantile)
        quantile = SizeQuantile(QUANTILE_SHARE, largest, gamma, certified.open_sizes)
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
        dimensions=certified.dimensions,
    )
