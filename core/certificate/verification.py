"""Checking a certificate by its own numbers: no data, no model and no network are needed."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from certiset.core.certificate.assumptions import ASSUMPTIONS
from certiset.core.certificate.checks import TOLERANCE, Check, close, equal
from certiset.core.certificate.content import CertificateContent, Member
from certiset.core.certificate.guarantees import GUARANTEES, SizeNumbers, guarantee_of
from certiset.core.certificate.signing import signed_by
from certiset.core.sets.base import MEASURES


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


def verify(certificate: CertificateContent, trusted_key: str | None = None) -> Verification:
    """Every number that follows from others is recomputed and compared; every other is held to its domain.

    A signature, if there is one, must hold; with a trusted public key, in base64, it must be there and be that key's.
    """
    try:
        checks = [*_form(certificate), *_union(certificate)]
        if all(check.ok for check in checks):
            checks += [*guarantee_of(certificate.coverage).coverage_checks(certificate), *_efficiency(certificate)]
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        checks = [Check("numbers", False, "numbers within their domains", str(error))]
    return Verification([*checks, *_signature(certificate, trusted_key)])


def _signature(certificate: CertificateContent, trusted_key: str | None) -> list[Check]:
    if certificate.signature is None and trusted_key is None:
        return []
    found = signed_by(certificate)
    if trusted_key is None:
        return [Check("signature", found is not None, "one that holds", found)]
    return [Check("signature", found == trusted_key, trusted_key, found)]


def _form(certificate: CertificateContent) -> list[Check]:
    """What can be checked without any bound: names, counts, and the words."""
    coverage, members, efficiency = certificate.coverage, certificate.members, certificate.efficiency
    if coverage.bound not in GUARANTEES:
        return [Check("bound", False, f"one of {', '.join(GUARANTEES)}", coverage.bound)]
    guarantee = guarantee_of(coverage)
    ranks = [member.k for member in members]
    alone = guarantee.member_alpha(coverage)
    return [
        equal("id", certificate.digest_id, certificate.id),
        equal("statement", guarantee.statement(coverage, len(members)), certificate.statement),
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
    bound: Any = efficiency.bound
    bounds = guarantee_of(coverage).size_bounds(
        SizeNumbers(
            means=np.array(_of(certificate.members, "efficiency_empirical"), dtype=np.float64),
            log_ratios=np.array(_of(certificate.members, "log_ratio")),
            n=coverage.n,
            gamma=coverage.share(efficiency.gamma),
            kl=coverage.kl,
            draws=coverage.draws,
            pool=len(stated),
            bound=bound,
            grid_size=efficiency.grid_size,
            monte_carlo=efficiency.monte_carlo,
        )
    )
    mean = close("efficiency", efficiency.cap * bounds.mean, efficiency.upper_bound)
    if bounds.members is None:
        return [equal("member efficiency", nothing, stated), mean]
    each = zip(bounds.members.tolist(), stated, strict=True)
    return [
        *(close(f"efficiency of member {m}", efficiency.cap * b, found) for m, (b, found) in enumerate(each)),
        mean,
    ]


def _of(members: list[Member], name: str) -> list[Any]:
    return [getattr(member, name) for member in members]
