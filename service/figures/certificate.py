"""What a certificate says, drawn: the budget with the chosen point, and the ranks of its members."""

import numpy as np

from certiset.core.certificate import Certificate
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.rounding import promise
from certiset.service.figures.plot import BLUE, GREEN, GREY, ORANGE, Plot, extent

_POINTS = 200


def budget_figure(certificate: Certificate) -> str:
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
    plot = Plot(
        "Budget and chosen point",
        words,
        "rank k of the threshold (larger: smaller sets)",
        guarantee.unit,
        (0, highest * 1.02),
        extent([top, *spent], include=[0.0]),
    )
    plot.line(ranks[useful].tolist(), budgets[useful].tolist(), BLUE, "what the bound allows")
    plot.points(chosen, spent, ORANGE, "this certificate", radius=5)
    return plot.svg()


def members_figure(certificate: Certificate) -> str:
    """Each member's rank against its log-ratio; of a pool, each member's level and how often it answers."""
    weights = guarantee_of(certificate.coverage).weights(certificate)
    return _draws_figure(certificate) if weights is None else _pool_figure(certificate, weights)


def _pool_figure(certificate: Certificate, weights: list[float]) -> str:
    """Levels are as equal as whole ranks allow; weights say how often each member answers."""
    blocks = guarantee_of(certificate.coverage).blocks(certificate)
    levels = [member.k / (len(block) + 1) for member, block in zip(certificate.members, blocks, strict=True)]
    each = ", ".join(f"{weight:.3g}" for weight in weights)
    plot = Plot(
        "Members",
        f"{len(weights)} members, served with chances of {each}, at levels from {min(levels):.3g} to "
        f"{max(levels):.3g}.",
        "chance to be served",
        "level k / (n + 1) of the member's block",
        (0.0, 1.0),
        extent(levels, include=[0.0, certificate.coverage.alpha], margin=0.08),
    )
    plot.points(weights, levels, GREEN, "member", radius=5)
    plot.level(certificate.coverage.alpha, f"alpha = {certificate.coverage.alpha:g}", GREY)
    return plot.svg()


def _draws_figure(certificate: Certificate) -> str:
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
    plot = Plot(
        "Members",
        words,
        "log-ratio of the member, in nats",
        "rank k",
        extent(ratios, include=[0.0] if count > 1 else [-1.0, 1.0], margin=0.08),
        extent(ranks, include=[0.0], margin=0.08),
    )
    plot.points(ratios, ranks, GREEN, "member", radius=5)
    plot.level(float(certificate.coverage.k), f"k = {certificate.coverage.k}", GREY)
    return plot.svg()
