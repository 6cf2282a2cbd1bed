"""The sizes of a certificate, recomputed from its other numbers."""

import math
from typing import Any

import numpy as np

from certiset.core.certificate.checks import Check, close, equal
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.size_statement import size_statement
from certiset.core.sets.measures import MEASURES
from certiset.core.sets.one_size import ONE_SIZE, one_size


def size_checks(certificate: CertificateContent) -> list[Check]:
    efficiency, guarantee = certificate.efficiency, guarantee_of(certificate.coverage)
    checks = [equal("size statement", size_statement(certificate), certificate.size_statement), *_domains(certificate)]
    if efficiency.bound is None or efficiency.upper_bound is None:
        checks += [
            equal("mean size bound", None, efficiency.upper_bound),
            equal("member sizes", [None] * len(certificate.members), _of(certificate, "efficiency_bound")),
        ]
    elif efficiency.is_exact:
        checks += _exact(certificate, efficiency.upper_bound)
    else:
        checks += guarantee.mean_size_checks(certificate, efficiency.upper_bound)
    return checks + guarantee.size_quantile_checks(certificate)


def _domains(certificate: CertificateContent) -> list[Check]:
    efficiency, shares = certificate.efficiency, _of(certificate, "efficiency_empirical")
    largest = efficiency.cap if MEASURES[efficiency.measure].is_count and efficiency.cap is not None else math.inf
    return [
        equal("share of gamma for the draws", 0.0, efficiency.monte_carlo),
        Check("mean efficiencies", all(share is None or 0 <= share <= 1 for share in shares), "from 0 to 1", shares),
        Check(
            "mean number of labels",
            efficiency.empirical <= largest * (1 + 1e-6),
            f"at most {largest}",
            efficiency.empirical,
        ),
    ]


def _exact(certificate: CertificateContent, upper_bound: float) -> list[Check]:
    """Sets of one size, which follows from the threshold; by rounding a little more."""
    score, efficiency = certificate.provenance.score, certificate.efficiency
    law = one_size(score, efficiency.measure)
    known = Check("score of one size", law is not None, list(ONE_SIZE), score)
    if law is None:
        return [known]
    stated = _of(certificate, "efficiency_bound")
    sizes = [law.at(member.tau, efficiency.dimensions) for member in certificate.members]
    reached = all(bound is not None and bound >= size for bound, size in zip(stated, sizes, strict=True))
    weights = guarantee_of(certificate.coverage).weights(certificate)
    mean = float(np.average([bound or 0.0 for bound in stated], weights=weights))
    return [known, Check("sizes", reached, sizes, stated), close("mean size", mean, upper_bound)]


def _of(certificate: CertificateContent, name: str) -> list[Any]:
    return [getattr(member, name) for member in certificate.members]
