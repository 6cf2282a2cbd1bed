"""From a candidate to its certificate: what it costs on D_N, what is promised for it, and the document that says so."""

import importlib.metadata
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from certiset.core.certificate import Certificate, Coverage, Efficiency, Member, Provenance, Union
from certiset.core.certificate.assumptions import ASSUMPTIONS
from certiset.core.certificate.guarantees import SizeNumbers
from certiset.core.fit.candidates import Candidate
from certiset.core.fit.plan import Plan
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import GRID_POINTS, Calibrated, calibrate

_SMALLEST_N_OF_GRID = 8


@dataclass(frozen=True)
class Certified:
    """A candidate with its thresholds and its efficiency certificate."""

    candidate: Candidate
    calibrated: Calibrated
    bound: str | None
    grid_size: int | None
    cap: float | None
    member_bounds: list[float] | None
    upper_bound: float | None

    @property
    def cost(self) -> tuple[float, float]:
        """Smaller is better: the certified size, then the size on D_N."""
        mean = float(np.mean(self.calibrated.size))
        return (self.upper_bound if self.upper_bound is not None else mean, mean)


def certify(
    plan: Plan, scorer: Scorer, candidate: Candidate, calibration: Rows, tuning: Rows | None, cap: float | None
) -> Certified:
    """Calibrates the candidate exactly and bounds the size of its sets."""
    grid = tuning if plan.n >= _SMALLEST_N_OF_GRID else None
    calibrated = calibrate(scorer, candidate.theta, calibration, candidate.ranks, tuning=grid, cap=cap)
    if cap is None:
        return Certified(candidate, calibrated, None, None, None, None, None)
    bound: Any = "grid_kl" if grid is not None else "monotone"
    size = GRID_POINTS if grid is not None else None
    bounds = candidate.guarantee.size_bounds(
        SizeNumbers(
            means=np.asarray(calibrated.efficiency),
            log_ratios=np.asarray(candidate.log_ratios),
            n=plan.n,
            gamma=plan.gamma(candidate.choice),
            kl=candidate.kl,
            draws=candidate.draws,
            pool=candidate.pool,
            bound=bound,
            grid_size=size,
            monte_carlo=candidate.guarantee.monte_carlo,
        )
    )
    members = None if bounds.members is None else (cap * bounds.members).tolist()
    return Certified(candidate, calibrated, bound, size, cap, members, cap * bounds.mean)


def issue(
    plan: Plan,
    certified: Certified,
    *,
    members_sha256: str,
    model_sha256: str,
    dataset_sha256: str,
    device: str,
    messages: list[str],
) -> Certificate:
    """The certificate of the choice taken, named by its own content."""
    coverage = _coverage(plan, certified.candidate)
    members = _members(coverage, certified)
    certificate = Certificate(
        id="",
        predictor_id="",
        issued_at=datetime.now(UTC).isoformat(timespec="seconds"),
        statement=certified.candidate.guarantee.statement(coverage, len(members)),
        assumptions=ASSUMPTIONS,
        coverage=coverage,
        members=members,
        efficiency=_efficiency(plan, certified),
        provenance=Provenance(
            dataset_sha256=dataset_sha256,
            model_sha256=model_sha256,
            members_sha256=members_sha256,
            n_tune=plan.n_tune,
            n_calibrate=plan.n,
            seed=plan.options.seed,
            software={name: importlib.metadata.version(name) for name in ("certiset", "numpy", "scipy", "torch")},
            device=device,
            method=plan.options.method,
            score=plan.score.kind,
            messages=messages,
        ),
    )
    # Named by all that is promised, not by the members alone: one predictor has one certificate.
    certificate = replace(certificate, predictor_id=f"pred-{certificate.digest[:20]}")
    return replace(certificate, id=certificate.digest_id)


def _coverage(plan: Plan, candidate: Candidate) -> Coverage:
    options, guarantee = plan.options, candidate.guarantee
    levels = guarantee.levels(
        plan.n,
        options.alpha,
        options.delta,
        plan.delta(candidate.choice),
        candidate.k,
        candidate.kl,
        len(candidate.ranks),
    )
    return Coverage(
        alpha=options.alpha,
        delta=options.delta,
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


def _members(coverage: Coverage, certified: Certified) -> list[Member]:
    candidate, calibrated = certified.candidate, certified.calibrated
    alone = candidate.guarantee.member_alpha(coverage)
    return [
        Member(
            member=place,
            k=candidate.ranks[place],
            tau=calibrated.tau[place],
            log_ratio=candidate.log_ratios[place],
            miscoverage_bound=alone,
            efficiency_empirical=calibrated.efficiency[place] if calibrated.efficiency else None,
            efficiency_bound=certified.member_bounds[place] if certified.member_bounds else None,
        )
        for place in range(len(candidate.ranks))
    ]


def _efficiency(plan: Plan, certified: Certified) -> Efficiency:
    return Efficiency(
        measure=plan.score.sets.measure,
        bound=certified.bound,
        gamma=plan.options.gamma,
        empirical=float(np.mean(certified.calibrated.size)),
        upper_bound=certified.upper_bound,
        cap=certified.cap,
        grid_size=certified.grid_size,
        monte_carlo=certified.candidate.guarantee.monte_carlo,
    )
