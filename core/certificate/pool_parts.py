"""The parts of a pool's certificate, made from its plan and its numbers: what a fit puts together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certiset.core.bounds import DomainError, progressive_ranks, progressive_tail
from certiset.core.certificate.content import EXACT, Coverage, Efficiency, Member, SizeQuantile, Union
from certiset.core.certificate.guarantees.pool import PROGRESSIVE
from certiset.core.certificate.pool_sizes import PoolSizes
from certiset.core.certificate.sizes import GRID_BETTING, QUANTILE_SHARE, reason_against


@dataclass(frozen=True)
class PoolPlan:
    """All that is fixed before the first block is opened, one entry per member."""

    sizes: tuple[int, ...]
    """points of each block"""
    weights: tuple[float, ...]
    """the chance of each member to be served"""
    ranks: tuple[int, ...]
    """of each member's threshold among the scores of its block, from above"""

    @classmethod
    def of(cls, sizes: Sequence[int], alpha: float, delta: float, weights: Sequence[float] | None = None) -> "PoolPlan":
        """With weights in proportion to the blocks, if none are given, and the largest ranks that keep the promise.

        ``delta`` is the share that this choice may spend. Raises a `TooFewPointsError` that says how many are enough.
        """
        if len(sizes) < 2:
            raise DomainError("a pool has at least two blocks: one alone is Vovk 2b.", field="sizes")
        shares = [size / sum(sizes) for size in sizes] if weights is None else [float(weight) for weight in weights]
        return cls(tuple(sizes), tuple(shares), progressive_ranks(sizes, alpha, delta, shares))

    @property
    def n(self) -> int:
        return sum(self.sizes)

    def coverage(self, alpha: float, delta: float, union: Union) -> Coverage:
        """What is promised; ``delta`` is the whole one, of which the choice taken has its share."""
        levels = zip(self.weights, self.ranks, self.sizes, strict=True)
        return Coverage(
            alpha=alpha,
            delta=delta,
            guarantee=PROGRESSIVE.name,
            bound=PROGRESSIVE.bound,
            n=self.n,
            kl=0.0,
            kl_budget=None,
            miscoverage_bound=alpha,
            pool_miscoverage_bound=alpha,
            pool_delta=0.0,
            alpha_hat=math.fsum(w * rank / (size + 1) for w, rank, size in levels),
            k=sum(self.ranks),
            draws=len(self.ranks),
            ranks=list(self.ranks),
            rank_weights=list(self.weights),
            union=union,
            sizes=list(self.sizes),
            tail=progressive_tail(self.sizes, self.ranks, alpha, self.weights),
        )

    def members(
        self,
        tau: Sequence[float],
        tuned_on: Sequence[int | None],
        sizes: PoolSizes | None = None,
        widths: Sequence[float] | None = None,
        ties: Sequence[float] = (),
    ) -> list[Member]:
        """With the means of ``sizes``, or the ``widths`` of intervals that all have one; ``ties`` if broken."""
        means = sizes.means if sizes is not None else None
        return [
            Member(
                member=place,
                k=self.ranks[place],
                tau=threshold,
                log_ratio=0.0,
                miscoverage_bound=None,
                efficiency_empirical=None if means is None else means[place],
                efficiency_bound=None if widths is None else widths[place],
                weight=self.weights[place],
                n=self.sizes[place],
                tuned_on=tuned_on[place],
                tie=ties[place] if ties else None,
            )
            for place, threshold in enumerate(tau)
        ]

    def exact_efficiency(
        self,
        sizes: Sequence[float],
        *,
        measure: str,
        gamma: float,
        empirical: float,
        cap: float | None,
        dimensions: int | None = None,
    ) -> Efficiency:
        """Of sets that have one size for each member."""
        mean = float(np.average(sizes, weights=self.weights))
        return Efficiency(measure, EXACT, gamma, empirical, mean, cap, None, 0.0, dimensions=dimensions)


def pool_efficiency(
    sizes: PoolSizes, *, measure: str, gamma: float, empirical: float, cap: float | None, grid_size: int
) -> tuple[Efficiency, str | None]:
    """What is stated about the size, and why no mean is, if there is none.

    ``empirical`` is the mean size on the last block, by the weights; ``gamma`` is the whole one.
    """
    against = None
    if sizes.upper_bound is not None and cap is not None:
        against = reason_against(measure, sizes.upper_bound, cap, empirical)
    counts = sizes.counts if against is None else None
    quantile = None
    if sizes.quantile is not None:
        quantile = SizeQuantile(QUANTILE_SHARE, sizes.quantile, gamma, sizes.quantile_rank)
    stated = Efficiency(
        measure=measure,
        bound=None if counts is None else GRID_BETTING,
        gamma=gamma,
        empirical=empirical,
        upper_bound=None if counts is None else sizes.upper_bound,
        cap=cap,
        grid_size=grid_size,
        monte_carlo=0.0,
        quantile=quantile,
        size_steps=None if counts is None else counts.steps,
        size_counts=None if counts is None else counts.to_json(),
    )
    return stated, against
