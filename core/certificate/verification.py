"""Checking a certificate by its own numbers: no data, no model and no network are needed."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.bounds import (
    BoundsError,
    calibration_rank,
    efficiency_bound,
    kl_budget,
    miscoverage_bound,
    per_draw_budget,
    per_draw_efficiency_bound,
    per_draw_rank,
    pool_miscoverage_bound,
    vovk_2a,
    vovk_2b,
)

if TYPE_CHECKING:
    from core.certificate.certificate import Certificate

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    expected: Any
    found: Any


@dataclass(frozen=True)
class Verification:
    checks: list[Check]

    @property
    def valid(self) -> bool:
        return all(check.ok for check in self.checks)

    def __bool__(self) -> bool:
        return self.valid

    def to_json(self) -> dict[str, Any]:
        return {"valid": self.valid, "checks": [vars(check) for check in self.checks]}


def verify(certificate: "Certificate") -> Verification:
    """Every number that follows from others is recomputed and compared."""
    try:
        return Verification([*_union(certificate), *_coverage(certificate), *_efficiency(certificate)])
    except (BoundsError, ValueError, TypeError, IndexError, ZeroDivisionError) as error:
        return Verification([Check("numbers", False, "numbers within their domains", str(error))])


def spent(certificate: "Certificate", whole: float) -> float:
    """The share of delta or gamma that the choice taken was given."""
    return whole * certificate.coverage.union.weights[certificate.coverage.union.taken]


def _union(certificate: "Certificate") -> list[Check]:
    union = certificate.coverage.union
    total = math.fsum(union.weights)
    return [
        Check("union weights", total <= 1 + _TOLERANCE and min(union.weights) > 0, "positive, at most 1 in all", total),
        Check("union choices", len(union.choices) == len(union.weights), len(union.choices), len(union.weights)),
        Check("members", len(certificate.members) >= 1, "at least one", len(certificate.members)),
    ]


def _coverage(certificate: "Certificate") -> list[Check]:
    coverage = certificate.coverage
    delta = spent(certificate, coverage.delta)
    n, alpha, k = coverage.n, coverage.alpha, coverage.k
    ranks = [member.k for member in certificate.members]
    match coverage.bound:
        case "vovk_2a" | "vovk_2b":
            exact = coverage.bound == "vovk_2b"
            largest = vovk_2b(n, alpha, delta) if exact else calibration_rank(n, vovk_2a(n, alpha, delta))
            return [
                Check("rank", max(ranks) <= int(largest), f"at most {largest}", max(ranks)),
                Check("log-ratio", all(m.log_ratio == 0 for m in certificate.members), 0.0, _ratios(certificate)),
                Check("one draw", coverage.draws == 1, 1, coverage.draws),
                _close("miscoverage bound", alpha, coverage.miscoverage_bound),
                _close("pool miscoverage bound", alpha, coverage.pool_miscoverage_bound),
            ]
        case "per_draw":
            log_ratios = np.array([member.log_ratio for member in certificate.members])
            weights = dict(zip(coverage.ranks, coverage.rank_weights, strict=True))
            allowed = per_draw_rank(n, alpha, delta, log_ratios, coverage.ranks, coverage.rank_weights, coverage.draws)
            budget = per_draw_budget(n, k, alpha, delta, weights[k], coverage.draws)
            return [
                Check("ranks", bool(np.all(np.asarray(ranks) <= allowed)), np.asarray(allowed).tolist(), ranks),
                Check("draws", len(ranks) <= coverage.draws, f"at most {coverage.draws}", len(ranks)),
                _close("budget", float(budget), coverage.kl_budget),
                _close("miscoverage bound", alpha, coverage.miscoverage_bound),
                _close("pool miscoverage bound", alpha, coverage.pool_miscoverage_bound),
            ]
        case "seeger" | "chernoff":
            budget = kl_budget(n, k, alpha, delta, coverage.bound)
            level = miscoverage_bound(n, k, delta, coverage.kl, coverage.bound, alpha)
            pool = pool_miscoverage_bound(level, len(ranks), coverage.pool_delta)
            return [
                Check("rank", all(rank == k for rank in ranks), k, ranks),
                _close("budget", float(budget), coverage.kl_budget),
                Check("KL within budget", coverage.kl <= float(budget), f"at most {budget}", coverage.kl),
                _close("miscoverage bound", float(level), coverage.miscoverage_bound),
                Check("promise", float(level) <= alpha * (1 + _TOLERANCE), f"at most {alpha}", float(level)),
                _close("pool miscoverage bound", float(pool), coverage.pool_miscoverage_bound),
            ]
        case _:
            return [Check("bound", False, "vovk_2a, vovk_2b, per_draw, seeger or chernoff", coverage.bound)]


def _efficiency(certificate: "Certificate") -> list[Check]:
    efficiency, coverage = certificate.efficiency, certificate.coverage
    if efficiency.bound is None or efficiency.cap is None:
        return [Check("efficiency", efficiency.upper_bound is None, None, efficiency.upper_bound)]
    means = np.array([member.efficiency_empirical for member in certificate.members], dtype=np.float64)
    gamma = spent(certificate, efficiency.gamma)
    bound: Any = efficiency.bound
    if coverage.guarantee == "per_draw":
        ratios = np.array([member.log_ratio for member in certificate.members])
        bounds = efficiency.cap * np.asarray(
            per_draw_efficiency_bound(
                means, coverage.n, gamma, ratios, coverage.draws, bound, grid_size=efficiency.grid_size
            )
        )
        stated = np.array([member.efficiency_bound for member in certificate.members], dtype=np.float64)
        return [
            Check(
                "member efficiency",
                bool(np.allclose(bounds, stated, rtol=_TOLERANCE)),
                bounds.tolist(),
                stated.tolist(),
            ),
            _close("efficiency", float(bounds.mean()), efficiency.upper_bound),
        ]
    level = efficiency.cap * efficiency_bound(
        float(means.mean()),
        coverage.n,
        gamma * (1 - efficiency.monte_carlo),
        coverage.kl,
        bound,
        grid_size=efficiency.grid_size,
        draws=len(means),
        gamma_monte_carlo=gamma * efficiency.monte_carlo,
    )
    return [_close("efficiency", float(level), efficiency.upper_bound)]


def _close(name: str, expected: float, found: float | None) -> Check:
    return Check(name, found is not None and math.isclose(expected, found, rel_tol=_TOLERANCE), expected, found)


def _ratios(certificate: "Certificate") -> list[float]:
    return [member.log_ratio for member in certificate.members]
