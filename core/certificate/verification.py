"""Checking a certificate by its own numbers: no data, no model and no network are needed."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.bounds import (
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
from core.certificate.signing import signed_by
from core.certificate.statement import ASSUMPTIONS, statement

if TYPE_CHECKING:
    from core.certificate.certificate import Certificate, Member

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


def verify(certificate: "Certificate", trusted_key: str | None = None) -> Verification:
    """Every number that follows from others is recomputed and compared; every other is held to its domain.

    A signature, if there is one, must hold; with a trusted public key, in base64, it must be there and be that key's.
    """
    try:
        checks = [*_form(certificate), *_union(certificate)]
        if all(check.ok for check in checks):
            checks += [*_coverage(certificate), *_efficiency(certificate)]
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        checks = [Check("numbers", False, "numbers within their domains", str(error))]
    return Verification([*checks, *_signature(certificate, trusted_key)])


def _signature(certificate: "Certificate", trusted_key: str | None) -> list[Check]:
    if certificate.signature is None and trusted_key is None:
        return []
    found = signed_by(certificate)
    if trusted_key is None:
        return [Check("signature", found is not None, "one that holds", found)]
    return [Check("signature", found == trusted_key, trusted_key, found)]


def spent(certificate: "Certificate", whole: float) -> float:
    """The share of delta or gamma that the choice taken was given."""
    return whole * certificate.coverage.union.weights[certificate.coverage.union.taken]


_GUARANTEES = {
    "vovk_2a": "per_draw",
    "vovk_2b": "per_draw",
    "per_draw": "per_draw",
    "seeger": "posterior",
    "chernoff": "posterior",
}


def _form(certificate: "Certificate") -> list[Check]:
    """What can be checked without any bound: names, counts, and the words."""
    coverage, members, efficiency = certificate.coverage, certificate.members, certificate.efficiency
    every = coverage.guarantee == "per_draw"
    ranks = [member.k for member in members]
    return [
        _equal("id", certificate.digest_id, certificate.id),
        _equal("statement", statement(coverage, len(members)), certificate.statement),
        _equal("assumptions", ASSUMPTIONS, certificate.assumptions),
        _equal("guarantee of the bound", _GUARANTEES.get(coverage.bound), coverage.guarantee),
        _equal("points", certificate.provenance.n_calibrate, coverage.n),
        _equal("member numbers", list(range(len(members))), [member.member for member in members]),
        Check("members", len(members) >= 1, "at least one", len(members)),
        Check("member ranks", all(1 <= k <= coverage.n for k in ranks), f"from 1 to {coverage.n}", ranks),
        _equal("member bounds", [coverage.alpha if every else None] * len(members), _of(members, "miscoverage_bound")),
        _close("alpha_hat", coverage.k / (coverage.n + 1), coverage.alpha_hat),
        Check("divergence", coverage.kl >= 0, "at least 0", coverage.kl),
        Check("risks", all(0 < r < 1 for r in (coverage.alpha, coverage.delta, efficiency.gamma)), "in (0, 1)", None),
        Check("cap", efficiency.cap is None or efficiency.cap > 0, "positive", efficiency.cap),
        Check("mean size", efficiency.empirical >= 0, "at least 0", efficiency.empirical),
        Check("measure", efficiency.measure in ("labels", "width", "volume"), "known", efficiency.measure),
    ]


def _union(certificate: "Certificate") -> list[Check]:
    union = certificate.coverage.union
    total = math.fsum(union.weights)
    fair = bool(union.weights) and min(union.weights) > 0 and total <= 1 + _TOLERANCE
    return [
        Check("union weights", fair, "positive, at most 1 in all", total),
        _equal("union choices", len(union.choices), len(union.weights)),
        Check("choice taken", 0 <= union.taken < len(union.weights), f"below {len(union.weights)}", union.taken),
    ]


def _coverage(certificate: "Certificate") -> list[Check]:
    coverage = certificate.coverage
    match coverage.bound:
        case "vovk_2a" | "vovk_2b":
            return _point(certificate)
        case "per_draw":
            return _every_draw(certificate)
        case _:
            return _posterior(certificate)


def _point(certificate: "Certificate") -> list[Check]:
    """One member, without a posterior step."""
    coverage, delta = certificate.coverage, spent(certificate, certificate.coverage.delta)
    n, alpha = coverage.n, coverage.alpha
    exact = coverage.bound == "vovk_2b"
    largest = int(vovk_2b(n, alpha, delta) if exact else calibration_rank(n, vovk_2a(n, alpha, delta)))
    return [
        Check("rank", coverage.k <= largest, f"at most {largest}", coverage.k),
        _equal("member rank", [coverage.k], _of(certificate.members, "k")),
        _equal("log-ratio", [0.0], _of(certificate.members, "log_ratio")),
        _equal("divergence", 0.0, coverage.kl),
        _equal("draws", 1, coverage.draws),
        *_whole_promise(certificate),
    ]


def _every_draw(certificate: "Certificate") -> list[Check]:
    """Every served draw at the rank that its log-ratio allows."""
    coverage, delta = certificate.coverage, spent(certificate, certificate.coverage.delta)
    n, alpha, draws = coverage.n, coverage.alpha, coverage.draws
    ranks, log_ratios = _of(certificate.members, "k"), _of(certificate.members, "log_ratio")
    allowed = per_draw_rank(n, alpha, delta, np.array(log_ratios), coverage.ranks, coverage.rank_weights, draws)
    weight = dict(zip(coverage.ranks, coverage.rank_weights, strict=True))[coverage.k]
    return [
        Check("draws", len(ranks) <= draws, f"at most {draws}", len(ranks)),
        Check("open ranks", set(ranks) <= set(coverage.ranks), coverage.ranks, ranks),
        Check("ranks", bool(np.all(np.asarray(ranks) <= allowed)), np.asarray(allowed).tolist(), ranks),
        _close("budget", float(per_draw_budget(n, coverage.k, alpha, delta, weight, draws)), coverage.kl_budget),
        *_whole_promise(certificate),
    ]


def _whole_promise(certificate: "Certificate") -> list[Check]:
    """Where every member is certified, so is any mixture of them, at no further risk."""
    coverage = certificate.coverage
    return [
        _equal("miscoverage bound", coverage.alpha, coverage.miscoverage_bound),
        _equal("pool miscoverage bound", coverage.alpha, coverage.pool_miscoverage_bound),
        _equal("pool delta", 0.0, coverage.pool_delta),
    ]


def _posterior(certificate: "Certificate") -> list[Check]:
    """The mean over the posterior, and what it says of the pool."""
    coverage, delta = certificate.coverage, spent(certificate, certificate.coverage.delta)
    n, k, alpha = coverage.n, coverage.k, coverage.alpha
    bound: Any = coverage.bound
    ranks = _of(certificate.members, "k")
    budget = float(kl_budget(n, k, alpha, delta, bound))
    level = float(miscoverage_bound(n, k, delta, coverage.kl, bound, alpha))
    pool = float(pool_miscoverage_bound(level, len(ranks), spent(certificate, coverage.pool_delta)))
    return [
        _equal("draws", coverage.draws, len(ranks)),
        _equal("ranks", [k] * len(ranks), ranks),
        _close("budget", budget, coverage.kl_budget),
        Check("KL within budget", coverage.kl <= budget, f"at most {budget}", coverage.kl),
        _close("miscoverage bound", level, coverage.miscoverage_bound),
        Check("promise", level <= alpha * (1 + _TOLERANCE), f"at most {alpha}", level),
        _close("pool miscoverage bound", pool, coverage.pool_miscoverage_bound),
    ]


def _efficiency(certificate: "Certificate") -> list[Check]:
    efficiency, coverage = certificate.efficiency, certificate.coverage
    stated = _of(certificate.members, "efficiency_bound")
    nothing = [None] * len(stated)
    if efficiency.bound is None or efficiency.cap is None:
        return [_equal("efficiency", None, efficiency.upper_bound), _equal("member efficiency", nothing, stated)]
    means = np.array(_of(certificate.members, "efficiency_empirical"), dtype=np.float64)
    gamma = spent(certificate, efficiency.gamma)
    bound: Any = efficiency.bound
    if coverage.guarantee == "per_draw":
        ratios = np.array(_of(certificate.members, "log_ratio"))
        bounds = efficiency.cap * np.asarray(
            per_draw_efficiency_bound(
                means, coverage.n, gamma, ratios, coverage.draws, bound, grid_size=efficiency.grid_size
            )
        )
        return [
            *(
                _close(f"efficiency of member {m}", float(b), found)
                for m, (b, found) in enumerate(zip(bounds, stated, strict=True))
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
    return [
        _equal("member efficiency", nothing, stated),
        _close("efficiency", float(level), efficiency.upper_bound),
    ]


def _of(members: "list[Member]", name: str) -> list[Any]:
    return [getattr(member, name) for member in members]


def _equal(name: str, expected: Any, found: Any) -> Check:
    return Check(name, bool(expected == found), expected, found)


def _close(name: str, expected: float, found: float | None) -> Check:
    return Check(name, found is not None and math.isclose(expected, found, rel_tol=_TOLERANCE), expected, found)
