"""Sizes that are certified for every stored member, all at once, and thereby for their mean: recomputed."""

from typing import Any, cast

import numpy as np

from certiset.core.bounds import EfficiencyBound, SizeCounts
from certiset.core.certificate.checks import TOLERANCE, Check, close, equal
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.open_sizes import open_size_checks
from certiset.core.certificate.sizes import GRID_BETTING, SizeNumbers, reason_against


def member_mean_checks(certificate: CertificateContent, upper_bound: float) -> list[Check]:
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


def member_quantile_checks(certificate: CertificateContent, *, drawn: bool) -> list[Check]:
    """``drawn``: whether the members were drawn from a posterior, which may depend on D_N."""
    quantile, members = certificate.efficiency.quantile, certificate.members
    if quantile is None:
        nothing = [(None, None)] * len(members)
        return [equal("size quantile", nothing, [(member.size_k, member.size_quantile) for member in members])]
    allowed = _numbers(certificate, drawn=drawn).quantile_ranks(quantile.share, quantile.sizes).tolist()
    ranks = [member.size_k or 0 for member in members]
    sizes = [member.size_quantile for member in members]
    return [
        equal("gamma of the size quantile", certificate.efficiency.gamma, quantile.gamma),
        *open_size_checks(certificate.efficiency, quantile),
        Check("size ranks", all(1 <= k <= most for k, most in zip(ranks, allowed, strict=True)), allowed, ranks),
        Check("member size quantiles", None not in sizes, "one for each member", sizes),
        equal("size quantile", max(size or 0.0 for size in sizes), quantile.size),
    ]


def _numbers(certificate: CertificateContent, *, drawn: bool = False) -> SizeNumbers:
    coverage = certificate.coverage
    return SizeNumbers(
        log_ratios=np.array(_of(certificate, "log_ratio"), dtype=np.float64),
        n=coverage.n,
        gamma=coverage.share(certificate.efficiency.gamma),
        draws=coverage.draws,
        grid_size=certificate.efficiency.grid_size,
        drawn=drawn,
    )


def _of(certificate: CertificateContent, name: str) -> list[Any]:
    return [getattr(member, name) for member in certificate.members]
