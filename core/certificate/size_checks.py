"""The sizes of a certificate, recomputed from its other numbers."""

import math
from typing import Any, cast

import numpy as np

from certiset.core.bounds import EfficiencyBound, SizeCounts
from certiset.core.certificate.checks import TOLERANCE, Check, close, equal
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.open_sizes import open_size_checks
from certiset.core.certificate.size_statement import size_statement
from certiset.core.certificate.sizes import GRID_BETTING, ONE_SIZE, SizeNumbers, one_size, reason_against


def size_checks(certificate: CertificateContent) -> list[Check]:
    efficiency = certificate.efficiency
    checks = [equal("size statement", size_statement(certificate), certificate.size_statement), *_domains(certificate)]
    if efficiency.bound is None or efficiency.upper_bound is None:
        checks += [
            equal("mean size bound", None, efficiency.upper_bound),
            equal("member sizes", [None] * len(certificate.members), _of(certificate, "efficiency_bound")),
        ]
    elif efficiency.bound == "exact":
        checks += _exact(certificate, efficiency.upper_bound)
    else:
        checks += _mean(certificate, efficiency.upper_bound)
    return checks + _quantile(certificate)


def _domains(certificate: CertificateContent) -> list[Check]:
    efficiency, shares = certificate.efficiency, _of(certificate, "efficiency_empirical")
    largest = efficiency.cap if efficiency.measure == "labels" and efficiency.cap is not None else math.inf
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
    known = Check("score of one size", ONE_SIZE.get(score) == efficiency.measure, ONE_SIZE, score)
    if not known.ok:
        return [known]
    stated = _of(certificate, "efficiency_bound")
    sizes = [one_size(score, member.tau, efficiency.dimensions) for member in certificate.members]
    reached = all(bound is not None and bound >= size for bound, size in zip(stated, sizes, strict=True))
    return [
        known,
        Check("sizes", reached, sizes, stated),
        close("mean size", float(np.mean([bound or 0.0 for bound in stated])), upper_bound),
    ]


def _mean(certificate: CertificateContent, upper_bound: float) -> list[Check]:
    efficiency = certificate.efficiency
    if efficiency.cap is None:
        return [Check("cap", False, "a number", None)]
    means = np.array(_of(certificate, "efficiency_empirical"), dtype=np.float64)
    counted: list[Check] = []
    if efficiency.bound == GRID_BETTING:
        counts = [
            SizeCounts.from_json(efficiency.size_steps or 0, found or []) for found in _of(certificate, "size_counts")
        ]
        bounds = _numbers(certificate).betting_bounds(counts)
        counted = _counted(certificate, counts)
    else:
        bounds = _numbers(certificate).mean_bounds(means, cast(EfficiencyBound, efficiency.bound))
    each = zip(bounds.tolist(), _of(certificate, "efficiency_bound"), strict=True)
    against = reason_against(efficiency.measure, upper_bound * (1 + TOLERANCE), efficiency.cap, efficiency.empirical)
    return [
        *counted,
        *(close(f"size of member {m}", efficiency.cap * bound, found) for m, (bound, found) in enumerate(each)),
        close("mean size bound", efficiency.cap * float(bounds.mean()), upper_bound),
        equal("worth stating", None, against),
    ]


def _counted(certificate: CertificateContent, counts: list[SizeCounts]) -> list[Check]:
    """That the counts are those of the calibration rows, and of the means that are stated."""
    stated = zip(counts, _of(certificate, "efficiency_empirical"), strict=True)
    return [
        equal("rows of the size counts", [certificate.coverage.n] * len(counts), [found.rows for found in counts]),
        *(close(f"mean efficiency of member {m}", found.mean, mean) for m, (found, mean) in enumerate(stated)),
    ]


def _quantile(certificate: CertificateContent) -> list[Check]:
    quantile, members = certificate.efficiency.quantile, certificate.members
    if quantile is None:
        nothing = [(None, None)] * len(members)
        return [equal("size quantile", nothing, [(member.size_k, member.size_quantile) for member in members])]
    allowed = _numbers(certificate).quantile_ranks(quantile.share, quantile.sizes).tolist()
    ranks = [member.size_k or 0 for member in members]
    sizes = [member.size_quantile for member in members]
    return [
        equal("gamma of the size quantile", certificate.efficiency.gamma, quantile.gamma),
        *open_size_checks(certificate.efficiency, quantile),
        Check("size ranks", all(1 <= k <= most for k, most in zip(ranks, allowed, strict=True)), allowed, ranks),
        Check("member size quantiles", None not in sizes, "one for each member", sizes),
        equal("size quantile", max(size or 0.0 for size in sizes), quantile.size),
    ]


def _numbers(certificate: CertificateContent) -> SizeNumbers:
    coverage = certificate.coverage
    return SizeNumbers(
        log_ratios=np.array(_of(certificate, "log_ratio"), dtype=np.float64),
        n=coverage.n,
        gamma=coverage.share(certificate.efficiency.gamma),
        draws=coverage.draws,
        grid_size=certificate.efficiency.grid_size,
        drawn=guarantee_of(coverage).needs_posterior,
    )


def _of(certificate: CertificateContent, name: str) -> list[Any]:
    return [getattr(member, name) for member in certificate.members]
