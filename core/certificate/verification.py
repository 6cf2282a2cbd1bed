"""Checking a certificate by its own numbers: no data, no model and no network are needed."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from certiset.core.certificate.account import account_checks, family_of, family_sentence
from certiset.core.certificate.assumptions import assumptions_of
from certiset.core.certificate.canaries import canary_checks
from certiset.core.certificate.card import verification_card
from certiset.core.certificate.checks import TOLERANCE, Check, close, equal
from certiset.core.certificate.content import FORMAT, CertificateContent
from certiset.core.certificate.data_checks import data_checks
from certiset.core.certificate.deployment_account import deployment_checks
from certiset.core.certificate.format1 import verification as format1
from certiset.core.certificate.guarantees import GUARANTEES, guarantee_of
from certiset.core.certificate.public_keys import key_id
from certiset.core.certificate.signing import SignedDocument, signed_by
from certiset.core.certificate.size_checks import size_checks
from certiset.core.display import Card, Shown, Tone
from certiset.core.sets.measures import MEASURES

ALL = "all"
"""what the option alpha is called where the promise is for all of them"""
_ROWS = ("proved", "one_by_one", "assumed")


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """What was found. It is true (``bool``) if every check passed, that of the signature by a named key included.

    Numbers that hold prove nothing by themselves: whoever invents a certificate can compute them as well. Only
    ``trusted`` says that somebody whom the reader named stands behind them.
    """

    checks: list[Check]
    holds: bool
    """the numbers follow from each other, and the signature, if there is one, is somebody's"""
    signed_by: str | None
    """the public key whose signature it bears, in base64"""
    trusted: bool
    """it holds, and a key that the reader named has signed it"""

    @property
    def valid(self) -> bool:
        """Whether every check passed: also the signature's by a key that was named, if any was."""
        return all(check.ok for check in self.checks)

    def __bool__(self) -> bool:
        return self.valid

    @property
    def verdict(self) -> str:
        """In words."""
        if not self.holds:
            return "This certificate does not hold: do not rely on it."
        if self.trusted:
            assert self.signed_by is not None
            key = key_id(self.signed_by)
            return f"All checks passed: the numbers hold, and the key {key}, which you trust, has signed them."
        if self.signed_by is None:
            who = "It bears no signature, so that anybody may have written it."
        else:
            who = f"It is signed by the key {self.signed_by}: compare that with the key that the issuer gave you."
        return f"The numbers hold, but nobody that you named has signed them.\n{who}"

    def card(self) -> Card:
        tone: Tone = "good" if self.trusted else "caveat" if self.holds else "bad"
        return verification_card(" ".join(self.verdict.split("\n")), tone, self.checks)

    def beside(self, checks: list[Check]) -> "Verification":
        """The same with further checks, of files that the certificate is about."""
        fine = all(check.ok for check in checks)
        return replace(self, checks=[*self.checks, *checks], holds=self.holds and fine, trusted=self.trusted and fine)

    def to_json(self) -> dict[str, Any]:
        return {
            "valid": self.valid,
            "holds": self.holds,
            "trusted": self.trusted,
            "signed_by": self.signed_by,
            "checks": [vars(check) for check in self.checks],
        }


def verify(certificate: CertificateContent, trusted: str | Collection[str] | None = None) -> Verification:
    """Every number that follows from others is recomputed and compared; every other is held to its domain.

    A signature, if there is one, must hold; with trusted public keys, in base64, it must be there and be one of theirs.
    """

    def numbers() -> list[Check]:
        return format1.checks(certificate) if certificate.format == 1 else _checks(certificate)

    return verified(certificate, numbers, trusted)


def verified(
    document: SignedDocument, numbers: Callable[[], list[Check]], trusted: str | Collection[str] | None
) -> Verification:
    """The checks of the document's numbers, and those of its signature."""
    keys = [] if trusted is None else [trusted] if isinstance(trusted, str) else list(trusted)
    try:
        checks = numbers()
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        checks = [Check("numbers", False, "numbers within their domains", str(error))]
    signer = signed_by(document)
    checks += _key_id(document, signer)
    holds = all(check.ok for check in checks) and (document.signature is None or signer is not None)
    if trusted is not None:
        checks.append(Check("signature", signer in keys, keys[0] if len(keys) == 1 else keys, signer))
    elif document.signature is not None:
        checks.append(Check("signature", signer is not None, "one that holds", signer))
    return Verification(checks, holds, signer, trusted=holds and signer in keys)


def _checks(certificate: CertificateContent) -> list[Check]:
    checks = [*_form(certificate), *_sections(certificate), *_union(certificate)]
    checks += account_checks(certificate)
    checks += deployment_checks(certificate)
    checks += canary_checks(certificate.canaries, len(certificate.members))
    if all(check.ok for check in checks):
        checks += [*guarantee_of(certificate.coverage).coverage_checks(certificate), *size_checks(certificate)]
    return checks


def _key_id(document: SignedDocument, signer: str | None) -> list[Check]:
    """A document that names the key of its signature names the right one."""
    named = document.names.key_id if document.names is not None else None
    return [equal("key id", key_id(signer), named)] if signer is not None and named is not None else []


def _form(certificate: CertificateContent) -> list[Check]:
    """What can be checked without any bound: names, counts, and the words."""
    coverage, members, efficiency = certificate.coverage, certificate.members, certificate.efficiency
    if coverage.bound not in GUARANTEES:
        return [Check("bound", False, f"one of {', '.join(GUARANTEES)}", coverage.bound)]
    guarantee = guarantee_of(coverage)
    ranks = [member.k for member in members]
    alone = guarantee.member_alpha(coverage)
    known = guarantee.member_checks(certificate)
    if not all(check.ok for check in known):
        return known
    points = [len(block) for block in guarantee.blocks(certificate)]
    within = all(1 <= k <= rows for k, rows in zip(ranks, points, strict=True))
    return [
        equal("id", certificate.digest_id, certificate.id),
        equal("format", FORMAT, certificate.format),
        equal("statement", guarantee.statement(certificate) + family_sentence(certificate), certificate.statement),
        equal("assumptions", assumptions_of(certificate), certificate.assumptions),
        equal("guarantee of the bound", guarantee.name, coverage.guarantee),
        equal("points", certificate.provenance.n_calibrate, coverage.n),
        equal("member numbers", list(range(len(members))), [member.member for member in members]),
        Check("members", len(members) >= 1, "at least one", len(members)),
        Check("member ranks", within, f"from 1 to {max(points, default=0)}", ranks),
        equal("member bounds", [alone] * len(members), [member.miscoverage_bound for member in members]),
        close("alpha_hat", guarantee.alpha_hat(coverage), coverage.alpha_hat),
        Check("divergence", coverage.kl >= 0, "at least 0", coverage.kl),
        Check("risks", all(0 < r < 1 for r in (coverage.alpha, coverage.delta, efficiency.gamma)), "in (0, 1)", None),
        Check("cap", efficiency.cap is None or efficiency.cap > 0, "positive", efficiency.cap),
        Check("mean size", efficiency.empirical >= 0, "at least 0", efficiency.empirical),
        Check("measure", efficiency.measure in MEASURES, "known", efficiency.measure),
        equal("groups", guarantee.by_group, certificate.groups is not None),
        *known,
    ]


def _sections(certificate: CertificateContent) -> list[Check]:
    """What is said twice is said alike."""
    if certificate.coverage.bound not in GUARANTEES:
        return []
    coverage, provenance, data, options = (
        certificate.coverage,
        certificate.provenance,
        certificate.data,
        certificate.options,
    )
    if data is None or options is None:
        return [Check("sections", False, "data and options", None)]
    family, all_levels = family_of(certificate), guarantee_of(coverage).all_levels
    said = {
        "alpha": ALL if all_levels else coverage.alpha,
        "seed": provenance.seed,
        "method": provenance.method,
    }
    used, around = provenance.n_tune + provenance.n_calibrate, coverage.alpha if all_levels else None
    return [
        equal("options", said, {name: options.get(name) for name in said}),
        equal("share of delta", float(options.get("delta", 0)) / family, coverage.delta),
        equal("share of gamma", float(options.get("gamma", 0)) / family, certificate.efficiency.gamma),
        Check("rows", used <= data.rows, f"at least {used}", data.rows),
        Check("row by row", certificate.model is None or certificate.model.rows in _ROWS, _ROWS, None),
        *_groups(certificate, options),
        Check("served alone", _may_be_served(certificate), "one member that keeps the promise by itself", None),
        equal("thresholds for all levels", all_levels, certificate.levels is not None),
        equal("level in the middle", options.get("alpha_around") if all_levels else None, around),
        *data_checks(certificate),
        *_ties(certificate, options),
    ]


def _groups(certificate: CertificateContent, options: dict[str, Any]) -> list[Check]:
    """A column, or the class, that the options name is a promise by group."""
    if options.get("groups") is None:
        return []
    return [Check("groups of the options", certificate.groups is not None, options["groups"], None)]


def _ties(certificate: CertificateContent, options: dict[str, Any]) -> list[Check]:
    """Every member has both halves of its threshold where ties are broken, and no member where they are not."""
    found = [member.tie for member in certificate.members]
    if certificate.groups is not None:
        if any(tie is not None for tie in found):
            return [Check("ties", False, "those of the groups", found)]
        found = [tie for group in certificate.groups if group.tau is not None for _, tie in group.thresholds()]
    if options.get("ties", "together") != "together":
        sound = all(tie is not None and 0 <= tie < 1 for tie in found)
        return [Check("ties", sound, "a number from 0 to 1 for every member", found)]
    return [] if all(tie is None for tie in found) else [Check("ties", False, "none, by the options", found)]


def _may_be_served(certificate: CertificateContent) -> bool:
    """Whether the best member alone is stored, if that was asked for, and may be."""
    if (certificate.options or {}).get("serve", "random") != "best":
        return True
    found = GUARANTEES.kinds.get(certificate.coverage.bound)
    return found is not None and found.promises_each_member and len(certificate.members) == 1


def _union(certificate: CertificateContent) -> list[Check]:
    union = certificate.coverage.union
    total = math.fsum(union.weights)
    fair = bool(union.weights) and min(union.weights) > 0 and total <= 1 + TOLERANCE
    return [
        Check("union weights", fair, "positive, at most 1 in all", total),
        equal("union choices", len(union.choices), len(union.weights)),
        Check("choice taken", 0 <= union.taken < len(union.weights), f"below {len(union.weights)}", union.taken),
    ]
