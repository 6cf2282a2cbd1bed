"""The last step to a certificate: its sentences, its assumptions and its names follow from all its other parts."""

from dataclasses import replace

from certiset.core.certificate.account import family_sentence
from certiset.core.certificate.assumptions import assumptions_of
from certiset.core.certificate.certificate import Certificate
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.size_statement import size_statement


def completed(certificate: Certificate) -> Certificate:
    """The certificate with its words, named by its own content."""
    statement = guarantee_of(certificate.coverage).statement(certificate) + family_sentence(certificate)
    certificate = replace(
        certificate,
        statement=statement,
        size_statement=size_statement(certificate),
        assumptions=assumptions_of(certificate),
    )
    # Named by all that is promised, not by the members alone: one predictor has one certificate.
    certificate = replace(certificate, predictor_id=f"pred-{certificate.digest[:20]}")
    return replace(certificate, id=certificate.digest_id)
