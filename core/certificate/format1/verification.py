"""The checks of format 1, which says nothing about data, caveats or attempts."""

import math
from typing import Any, cast

import numpy as np

from certiset.core.bounds import EfficiencyBound, efficiency_bound, per_draw_efficiency_bound
from certiset.core.certificate.checks import TOLERANCE, Check, close, equal
from certiset.core.certificate.content import CertificateContent, Member
from certiset.core.certificate.format1.statement import ASSUMPTIONS, statement
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.sets.measures import MEASURES

_BOUNDS = ("chernoff", "per_draw", "seeger", "vovk_2a", "vovk_2b")


def checks(certificate: CertificateContent) -> list[Check]:
    """Every number that follows from others is recomputed and compared; every other is held to its domain."""
    found = [*_form(certificate), *_union(certificate)]
    if all(check.ok for check in found):
        found += [*guarantee_of(certificate.coverage).coverage_checks(certificate), *_efficiency(certificate)]
    return found


def _form(certificate: CertificateContent) -> list[Check]:
    """What can be checked without any bound: names, counts, and the words."""
    coverage, members, efficiency = certificate.coverage, certificate.members, certificate.efficiency
    if coverage.bound not in _BOUNDS:
        return [Check("bound", False, f"one of {', '.join(_BOUNDS)}", coverage.bound)]
    guarantee = guarantee_of(coverage)
    ranks = [member.k for member in members]
    alone = guarantee.member_alpha(coverage)
    return [
        equal("id", certificate.digest_id, certificate.id),
        equal("statement", statement(certificate), certificate.statement),
        equal("assumptions", ASSUMPTIONS, certificate.assumptions),
        equal("guarantee of the bound", guarantee.name, coverage.guarantee),
        equal("points", certificate.provenance.n_calibrate, coverage.n),
        equal("member numbers", list(range(len(members))), [member.member for member in members]),
        Check("members", len(members) >= 1, "at least one", len(members)),
        Check("member ranks", all(1 <= k <= coverage.n for k in ranks), f"from 1 to {coverage.n}", ranks),
        equal("member bounds", [alone] * len(members), _of(members, "miscoverage_bound")),
        close("alpha_hat", coverage.k / (coverage.n + 1), coverage.alpha_hat),
        Check("divergence", coverage.kl >= 0, "at least 0", coverage.kl),
        Check("risks", all(0 < r < 1 for r in (coverage.alpha, coverage.delta, efficiency.gamma)), "in (0, 1)", None),
        Check("cap", efficiency.cap is None or efficiency.cap > 0, "positive", efficiency.cap),
        Check("mean size", efficiency.empirical >= 0, "at least 0", efficiency.empirical),
        Check("measure", efficiency.measure in MEASURES, "known", efficiency.measure),
    ]


def _union(certificate: CertificateContent) -> list[Check]:
    union = certificate.coverage.union
    total = math.fsum(union.weights)
    fair = bool(union.weights) and min(union.weights) > 0 and total <= 1 + TOLERANCE
    return [
        Check("union weights", fair, "positive, at most 1 in all", total),
        equal("union choices", len(union.choices), len(union.weights)),
        Check("choice taken", 0 <= union.taken < len(union.weights), f"below {len(union.weights)}", union.taken),
    ]


def _efficiency(certificate: CertificateContent) -> list[Check]:
    efficiency, coverage = certificate.efficiency, certificate.coverage
    stated = _of(certificate.members, "efficiency_bound")
    nothing = [None] * len(stated)
    if efficiency.bound is None or efficiency.cap is None:
        return [equal("efficiency", None, efficiency.upper_bound), equal("member efficiency", nothing, stated)]
    means = np.array(_of(certificate.members, "efficiency_empirical"), dtype=np.float64)
    if coverage.guarantee == "posterior":
        bound = _posterior_bound(certificate, float(means.mean()))
        return [
            equal("member efficiency", nothing, stated),
            close("efficiency", efficiency.cap * bound, efficiency.upper_bound),
        ]
    bounds: Any = per_draw_efficiency_bound(
        means,
        coverage.n,
        coverage.share(efficiency.gamma),
        np.array(_of(certificate.members, "log_ratio")),
        coverage.draws,
        cast(EfficiencyBound, efficiency.bound),
        grid_size=efficiency.grid_size,
    )
    each = zip(bounds.tolist(), stated, strict=True)
    return [
        *(close(f"efficiency of member {m}", efficiency.cap * b, found) for m, (b, found) in enumerate(each)),
        close("efficiency", efficiency.cap * float(bounds.mean()), efficiency.upper_bound),
    ]


def _posterior_bound(certificate: CertificateContent, mean: float) -> float:
    """For the mean over the posterior, of which the members are a sample: part of gamma is spent on that."""
    efficiency, coverage = certificate.efficiency, certificate.coverage
    gamma = coverage.share(efficiency.gamma)
    level: Any = efficiency_bound(
        mean,
        coverage.n,
        gamma * (1 - efficiency.monte_carlo),
        coverage.kl,
        cast(EfficiencyBound, efficiency.bound),
        grid_size=efficiency.grid_size,
        draws=len(certificate.members),
        gamma_monte_carlo=gamma * efficiency.monte_carlo,
    )
    return float(level)


def _of(members: list[Member], name: str) -> list[Any]:
    return [getattr(member, name) for member in members]
