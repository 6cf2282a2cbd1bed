"""The thresholds of a certificate as a predictor's file has them: one for each member, or for each of its groups."""

import math

from certiset.core.certificate.content import CertificateContent


def stated_thresholds(certificate: CertificateContent) -> list[float] | list[list[float]]:
    """Infinite for a group that has none."""
    if certificate.groups is None:
        return [member.tau for member in certificate.members]
    return [[math.inf if group.tau is None else group.tau for group in certificate.groups]]


def stated_ties(certificate: CertificateContent) -> list[float] | list[list[float]] | None:
    """None where ties are not broken; 0 for a group without a threshold, where nothing ties."""
    if certificate.groups is None:
        return [member.tie for member in certificate.members if member.tie is not None] or None
    ties = [group.tie for group in certificate.groups]
    return None if all(tie is None for tie in ties) else [[tie or 0.0 for tie in ties]]


def stated_group_names(certificate: CertificateContent) -> list[list[str]] | None:
    return None if certificate.groups is None else [group.name for group in certificate.groups]
