"""The thresholds of a certificate as a predictor's file has them: one for each member, or for each of its groups."""

from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.group_content import Group


def stated_thresholds(certificate: CertificateContent) -> list[float] | list[list[float]]:
    """Infinite for a group that has none."""
    if certificate.groups is None:
        return [member.tau for member in certificate.members]
    return thresholds_by_group(certificate.groups)


def stated_ties(certificate: CertificateContent) -> list[float] | list[list[float]] | None:
    """None where ties are not broken; 0 for a group without a threshold, where nothing ties."""
    if certificate.groups is None:
        return [member.tie for member in certificate.members if member.tie is not None] or None
    return ties_by_group(certificate.groups)


def thresholds_by_group(groups: list[Group]) -> list[list[float]]:
    """A list for each member."""
    return [[tau for tau, _ in of_member] for of_member in zip(*(group.thresholds() for group in groups), strict=True)]


def ties_by_group(groups: list[Group]) -> list[list[float]] | None:
    ties = [[tie for _, tie in of_member] for of_member in zip(*(group.thresholds() for group in groups), strict=True)]
    none = all(tie is None for of_member in ties for tie in of_member)
    return None if none else [[tie or 0.0 for tie in of_member] for of_member in ties]


def stated_group_names(certificate: CertificateContent) -> list[list[str]] | None:
    return None if certificate.groups is None else [group.name for group in certificate.groups]
