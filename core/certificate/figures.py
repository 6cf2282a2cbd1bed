"""What a certificate says, drawn: the budget with the chosen point, and the ranks of its members."""

import numpy as np

from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.rounding import at_most, promise
from certiset.core.certificate.size_cap import cut_of
from certiset.core.drawing import BLUE, GREEN, GREY, ORANGE, Drawing, extent

_POINTS = 200


def budget(certificate: CertificateContent) -> Drawing:
    """How far from the prior each rank allows to go, and where this certificate stands."""
    coverage = certificate.coverage
    guarantee = guarantee_of(coverage)
    highest = max(2, int(coverage.alpha * (coverage.n + 1)))
    ranks = np.unique(np.linspace(1, highest, min(_POINTS, highest)).astype(np.int64))
    budgets = guarantee.budgets(coverage, ranks)
    chosen, spent = guarantee.spent(certificate)
    useful = budgets >= 0
    top = float(budgets[useful].max()) if useful.any() else 1.0
    words = (
        f"With {coverage.n} points a promise of {promise(coverage.alpha)} leaves "
        f"{budgets[useful][-1]:.2g} nats at rank {ranks[useful][-1]} and {top:.3g} nats at rank 1. "
        if useful.any()
        else "No rank leaves a budget at this share of delta. "
    )
    words += f"The certificate stands at rank {coverage.k} and has spent {max(spent):.3g} nats."
    drawing = Drawing(
        "Budget and chosen point",
        words,
        "rank k of the threshold (larger: smaller sets)",
        guarantee.unit,
        (0, highest * 1.02),
        extent([top, *spent], include=[0.0]),
    )
    drawing.line(ranks[useful].tolist(), budgets[useful].tolist(), BLUE, "what the bound allows")
    drawing.points(chosen, spent, ORANGE, "this certificate", radius=5)
    return drawing


def members(certificate: CertificateContent) -> Drawing:
    """Each member's rank against its log-ratio; of a pool, each member's level and how often it answers."""
    weights = guarantee_of(certificate.coverage).weights(certificate)
    return _draws(certificate) if weights is None else _pool(certificate, weights)


def _pool(certificate: CertificateContent, weights: list[float]) -> Drawing:
    """Levels are as equal as whole ranks allow; weights say how often each member answers."""
    blocks = guarantee_of(certificate.coverage).blocks(certificate)
    levels = [member.k / (len(block) + 1) for member, block in zip(certificate.members, blocks, strict=True)]
    each = ", ".join(f"{weight:.3g}" for weight in weights)
    drawing = Drawing(
        "Members",
        f"{len(weights)} members, served with chances of {each}, at levels from {min(levels):.3g} to "
        f"{max(levels):.3g}.",
        "chance to be served",
        "level k / (n + 1) of the block",
        (0.0, 1.0),
        extent(levels, include=[0.0, certificate.coverage.alpha], margin=0.08),
    )
    drawing.points(weights, levels, GREEN, "member", radius=5)
    drawing.level(certificate.coverage.alpha, f"alpha = {certificate.coverage.alpha:g}", GREY)
    return drawing


def _draws(certificate: CertificateContent) -> Drawing:
    """Who went farther from the prior must take a smaller rank."""
    ranks = [float(member.k) for member in certificate.members]
    ratios = [member.log_ratio for member in certificate.members]
    count = len(ranks)
    words = (
        f"{count} members with ranks from {min(ranks):.0f} to {max(ranks):.0f} and log-ratios from {min(ratios):.3g} "
        f"to {max(ratios):.3g} nats."
        if count > 1
        else f"One member, with rank {ranks[0]:.0f} and log-ratio {ratios[0]:.3g}: nothing was learned on the points "
        "that certify it."
    )
    drawing = Drawing(
        "Members",
        words,
        "log-ratio of the member, in nats",
        "rank k",
        extent(ratios, include=[0.0] if count > 1 else [-1.0, 1.0], margin=0.08),
        extent(ranks, include=[0.0], margin=0.08),
    )
    drawing.points(ratios, ranks, GREEN, "member", radius=5)
    drawing.level(float(certificate.coverage.k), f"k = {certificate.coverage.k}", GREY)
    return drawing


def certified_words(certificate: CertificateContent) -> str:
    """What is certified of the mean size, behind a sentence about sizes that were measured."""
    efficiency = certificate.efficiency
    if efficiency.upper_bound is None:
        return ""
    return f" The mean is certified to be at most {at_most(efficiency.upper_bound)}{cut_of(efficiency)}."
