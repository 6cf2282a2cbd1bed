"""From a candidate to its certificate: what it costs on D_N, what is promised for it, and the document that says so."""

import importlib.metadata
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import numpy as np

from certiset.core.bounds import EfficiencyBound
from certiset.core.certificate import Certificate, Coverage, Efficiency, Member, Provenance, Union
from certiset.core.certificate.canaries import Canaries
from certiset.core.certificate.completion import completed
from certiset.core.certificate.content import FORMAT, Caveat, Data, ModelFacts, Names, SizeQuantile
from certiset.core.certificate.sizes import QUANTILE_SHARE, SizeNumbers, reason_against
from certiset.core.fit.candidates import Candidate
from certiset.core.fit.plan import Plan
from certiset.core.fit.reference_rows import ReferenceRows
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import GRID_POINTS, Calibrated, calibrate

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
        """Why the mean size should not be stated, although there is a bound."""
        if self.upper_bound is None or self.cap is None or self.bound == "exact":
            return None
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
    """Calibrates the candidate exactly and bounds the size of its sets."""
    grid = tuning if plan.n >= _SMALLEST_N_OF_GRID and cap is not None else None
    numbers = SizeNumbers(
        log_ratios=np.asarray(candidate.log_ratios),
        n=plan.n,
        gamma=plan.gamma(candidate.choice),
        draws=candidate.draws,
        grid_size=GRID_POINTS if grid is not None else None,
    )
    ranks = numbers.quantile_ranks().tolist()
    calibrated = calibrate(
        scorer,
        candidate.theta,
        calibration,
        candidate.ranks,
        tuning=grid,
        cap=cap,
        size_ranks=ranks,
        reference=reference,
    )
    if scorer.score.has_one_size:
        widths = [max(size, 2 * tau) for size, tau in zip(calibrated.largest, calibrated.tau, strict=True)]
        return Certified(candidate, calibrated, "exact", None, cap, widths, float(np.mean(widths)), [0] * len(widths))
    if cap is None:
        return Certified(candidate, calibrated, None, None, None, None, None, ranks)
    bound: EfficiencyBound = "grid_kl" if grid is not None else "monotone"
    bounds = cap * numbers.mean_bounds(np.asarray(calibrated.efficiency), bound)
    return Certified(candidate, calibrated, bound, numbers.grid_size, cap, bounds.tolist(), float(bounds.mean()), ranks)


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
    return completed(certificate)


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
        quantile = SizeQuantile(QUANTILE_SHARE, max(certified.calibrated.size_quantile), gamma)
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
    )
