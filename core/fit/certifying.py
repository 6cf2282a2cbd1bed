"""From a choice to its certificate: what it costs on D_N, what is promised for it, and the document that says so."""

import importlib.metadata
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from core.bounds import efficiency_bound, miscoverage_bound, per_draw_efficiency_bound, pool_miscoverage_bound
from core.certificate import Certificate, Coverage, Efficiency, Member, Provenance, Union
from core.certificate.statement import ASSUMPTIONS, statement
from core.fit.calibration import GRID_POINTS, Calibrated, calibrate
from core.fit.choices import Candidate
from core.fit.data import Rows
from core.fit.scorer import Scorer
from core.fit.terms import Terms

_MONTE_CARLO_SHARE = 0.5
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
    terms: Terms, scorer: Scorer, candidate: Candidate, calibration: Rows, tuning: Rows | None, cap: float | None
) -> Certified:
    """Calibrates the candidate exactly and bounds the size of its sets."""
    grid = tuning if terms.n >= _SMALLEST_N_OF_GRID else None
    calibrated = calibrate(scorer, candidate.theta, calibration, candidate.ranks, tuning=grid, cap=cap)
    if cap is None:
        return Certified(candidate, calibrated, None, None, None, None, None)
    bound: Any = "grid_kl" if grid is not None else "monotone"
    size = GRID_POINTS if grid is not None else None
    gamma, means = terms.gamma(candidate.choice), np.asarray(calibrated.efficiency)
    if candidate.guarantee == "per_draw":
        ratios = np.asarray(candidate.log_ratios)
        bounds = cap * np.asarray(
            per_draw_efficiency_bound(means, terms.n, gamma, ratios, candidate.draws, bound, grid_size=size)
        )
        return Certified(candidate, calibrated, bound, size, cap, bounds.tolist(), float(bounds.mean()))
    level = cap * efficiency_bound(
        float(means.mean()),
        terms.n,
        gamma * (1 - _MONTE_CARLO_SHARE),
        candidate.kl,
        bound,
        grid_size=size,
        draws=candidate.pool,
        gamma_monte_carlo=gamma * _MONTE_CARLO_SHARE,
    )
    return Certified(candidate, calibrated, bound, size, cap, None, float(level))


def issue(
    terms: Terms,
    certified: Certified,
    *,
    members_sha256: str,
    model_sha256: str,
    dataset_sha256: str,
    device: str,
    messages: list[str],
) -> Certificate:
    """The certificate of the choice taken, named by its own content."""
    coverage = _coverage(terms, certified.candidate)
    members = _members(terms, certified)
    certificate = Certificate(
        id="",
        predictor_id="",
        issued_at=datetime.now(UTC).isoformat(timespec="seconds"),
        statement=statement(coverage, len(members)),
        assumptions=ASSUMPTIONS,
        coverage=coverage,
        members=members,
        efficiency=_efficiency(terms, certified),
        provenance=Provenance(
            dataset_sha256=dataset_sha256,
            model_sha256=model_sha256,
            members_sha256=members_sha256,
            n_tune=terms.n_tune,
            n_calibrate=terms.n,
            seed=terms.options.seed,
            software={name: importlib.metadata.version(name) for name in ("certiset", "numpy", "scipy", "torch")},
            device=device,
            method=terms.options.method,
            score=terms.score.kind,
            messages=messages,
        ),
    )
    # Named by all that is promised, not by the members alone: one predictor has one certificate.
    certificate = replace(certificate, predictor_id=f"pred-{certificate.digest[:20]}")
    return replace(certificate, id=certificate.digest_id)


def _coverage(terms: Terms, candidate: Candidate) -> Coverage:
    options = terms.options
    level = pool = options.alpha
    pool_delta = 0.0
    if candidate.guarantee == "posterior":
        bound: Any = candidate.bound
        delta = terms.delta(candidate.choice)
        level = float(miscoverage_bound(terms.n, candidate.k, delta, candidate.kl, bound, options.alpha))
        # As much again as delta, and shared out alike: the choice was made with all pools in view.
        pool_delta = options.delta
        pool = float(pool_miscoverage_bound(level, len(candidate.ranks), delta))
    return Coverage(
        alpha=options.alpha,
        delta=options.delta,
        guarantee=candidate.guarantee,
        bound=candidate.bound,
        n=terms.n,
        kl=candidate.kl,
        kl_budget=candidate.kl_budget,
        miscoverage_bound=level,
        pool_miscoverage_bound=pool,
        pool_delta=pool_delta,
        alpha_hat=candidate.k / (terms.n + 1),
        k=candidate.k,
        draws=candidate.draws,
        ranks=candidate.open_ranks,
        rank_weights=candidate.rank_weights,
        union=Union(terms.choices, terms.weights, candidate.choice),
    )


def _members(terms: Terms, certified: Certified) -> list[Member]:
    candidate, calibrated = certified.candidate, certified.calibrated
    every = candidate.guarantee == "per_draw"
    return [
        Member(
            member=place,
            k=candidate.ranks[place],
            tau=calibrated.tau[place],
            log_ratio=candidate.log_ratios[place],
            miscoverage_bound=terms.options.alpha if every else None,
            efficiency_empirical=calibrated.efficiency[place] if calibrated.efficiency else None,
            efficiency_bound=certified.member_bounds[place] if certified.member_bounds else None,
        )
        for place in range(len(candidate.ranks))
    ]


def _efficiency(terms: Terms, certified: Certified) -> Efficiency:
    measure = "labels" if terms.score.task == "classification" else "width"
    if terms.score.kind in ("ball", "box", "scaled_ball"):
        measure = "volume"
    return Efficiency(
        measure=measure,
        bound=certified.bound,
        gamma=terms.options.gamma,
        empirical=float(np.mean(certified.calibrated.size)),
        upper_bound=certified.upper_bound,
        cap=certified.cap,
        grid_size=certified.grid_size,
        monte_carlo=_MONTE_CARLO_SHARE if certified.candidate.guarantee == "posterior" else 0.0,
    )
