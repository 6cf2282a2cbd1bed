"""The mean over a stored pool that was tuned block by block, each member served with the chance that is its weight."""

import math
from typing import Any, ClassVar

import numpy as np

from certiset.core.bounds import SizeCounts, progressive_tail
from certiset.core.bounds.domain import Floats, Ints
from certiset.core.bounds.progressive import ACCURACY
from certiset.core.certificate.checks import TOLERANCE, Check, close, equal
from certiset.core.certificate.content import CertificateContent, Coverage
from certiset.core.certificate.guarantees.base import CoverageLevels, Guarantee, as_array, column
from certiset.core.certificate.pool_sizes import pool_quantile_rank, pool_upper_bound
from certiset.core.certificate.population import contains_the_truth
from certiset.core.certificate.rounding import promise
from certiset.core.certificate.sizes import GRID_BETTING, reason_against
from certiset.core.errors import DamagedFileError

_FEWEST = 2
"""members: one alone is Vovk 2b, and keeps the promise by itself"""
_POINTS_OF_FIGURE = 24


class ProgressivePool(Guarantee):
    name: ClassVar[str] = "pool"
    unit: ClassVar[str] = "room below delta, in nats"
    needs_posterior: ClassVar[bool] = False
    fixed_beforehand: ClassVar[str] = (
        "The blocks, their order, the ranks, the weights and the number of members were fixed before the calibration "
        "rows were seen, and no member was tuned, chosen or dropped by what its own block or a later one holds."
    )

    def levels(
        self, n: int, alpha: float, delta: float, share: float, k: int, kl: float, members: int
    ) -> CoverageLevels:
        return CoverageLevels(alpha, alpha, 0.0)

    def weights(self, certificate: CertificateContent) -> list[float] | None:
        return _of_every(certificate, "weight")

    def blocks(self, certificate: CertificateContent) -> list[range]:
        """One after the other."""
        found, start = [], 0
        for size in _of_every(certificate, "n"):
            found.append(range(start, start + size))
            start += size
        return found

    def alpha_hat(self, coverage: Coverage) -> float:
        """The mean miscoverage of the pool, in expectation."""
        each = zip(coverage.ranks, coverage.sizes or [], coverage.rank_weights, strict=True)
        return math.fsum(w * k / (size + 1) for k, size, w in each)

    def tail(self, coverage: Coverage, accuracy: float = ACCURACY) -> float:
        """An upper bound on the chance that the pool misses more than alpha."""
        sizes, ranks, weights = coverage.sizes or [], coverage.ranks, coverage.rank_weights
        return progressive_tail(sizes, ranks, coverage.alpha, weights, accuracy=accuracy)

    def statement(self, certificate: CertificateContent) -> str:
        coverage, members = certificate.coverage, len(certificate.members)
        return (
            f"With probability at least {promise(coverage.delta)} over the drawing of the {coverage.n} calibration "
            f"points, sets whose member is drawn from the {members} stored ones by their weights "
            f"{contains_the_truth(certificate, coverage.alpha)}: a promise for the mean over this pool, and not for "
            "each of its members."
        )

    def member_checks(self, certificate: CertificateContent) -> list[Check]:
        coverage, members = certificate.coverage, certificate.members
        weights, sizes = column(certificate, "weight"), column(certificate, "n")
        if None in weights or None in sizes or coverage.sizes is None or coverage.tail is None:
            return [Check("fields of a pool", False, "weight and n of each member, sizes and tail", None)]
        fair = min(weights, default=0) > 0 and abs(math.fsum(weights) - 1) <= TOLERANCE
        revealed = [certificate.provenance.n_tune + sum(sizes[:place]) for place in range(len(members))]
        tuned = column(certificate, "tuned_on")
        return [
            Check("members of a pool", len(members) >= _FEWEST, f"at least {_FEWEST}", len(members)),
            Check("weights", fair, "positive, 1 in all", weights),
            equal("weights of the members", coverage.rank_weights, weights),
            equal("blocks of the members", coverage.sizes, sizes),
            equal("points of the blocks", coverage.n, sum(sizes)),
            Check(
                "rows that members were tuned on",
                all(rows is None or 0 <= rows <= most for rows, most in zip(tuned, revealed, strict=True)),
                f"at most {revealed}",
                tuned,
            ),
            *self.count_checks(certificate),
        ]

    def count_checks(self, certificate: CertificateContent) -> list[Check]:
        """That sizes are counted if, and only if, their mean is bounded by these counts."""
        efficiency = certificate.efficiency
        counted = efficiency.size_counts is not None or efficiency.size_steps is not None
        return [equal("size counts", efficiency.bound == GRID_BETTING, counted)]

    def coverage_checks(self, certificate: CertificateContent) -> list[Check]:
        coverage = certificate.coverage
        share, tail = coverage.share(coverage.delta), self.tail(coverage)
        if tail > share:
            # Both are upper bounds, and the finer one is nearer: ranks need not be refused for how they were computed.
            tail = self.tail(coverage, ACCURACY / 10)
        stated = coverage.tail or 0.0
        return [
            equal("ranks of the members", coverage.ranks, column(certificate, "k")),
            equal("rank", sum(coverage.ranks), coverage.k),
            Check("tail of the pool", tail <= share, f"at most {share}", tail),
            Check("stated tail", tail <= stated * (1 + 2 * ACCURACY), f"at least {tail}", stated),
            Check("stated tail within delta", stated <= share, f"at most {share}", stated),
            *self.fixed_numbers(certificate),
        ]

    def fixed_numbers(self, certificate: CertificateContent) -> list[Check]:
        """What every pool states alike: nothing is spent, and the promise is the whole one."""
        coverage, members = certificate.coverage, len(certificate.members)
        return [
            equal("log-ratios", [0.0] * members, column(certificate, "log_ratio")),
            equal("divergence", [0.0, None], [coverage.kl, coverage.kl_budget]),
            equal("draws", members, coverage.draws),
            equal("miscoverage bound", coverage.alpha, coverage.miscoverage_bound),
            equal("pool miscoverage bound", coverage.alpha, coverage.pool_miscoverage_bound),
            equal("pool delta", 0.0, coverage.pool_delta),
        ]

    def mean_size_checks(self, certificate: CertificateContent, upper_bound: float) -> list[Check]:
        """Of the counts on the last block: each member's mean describes it, and is no bound."""
        efficiency, coverage, members = certificate.efficiency, certificate.coverage, len(certificate.members)
        cap, steps, grid = efficiency.cap, efficiency.size_steps, efficiency.grid_size
        if cap is None or steps is None or grid is None:
            return [Check("numbers of the mean size", False, "cap, steps and grid", [cap, steps, grid])]
        counts = SizeCounts.from_json(steps, efficiency.size_counts or [])
        means = as_array(column(certificate, "efficiency_empirical"))
        mean = float(means @ as_array(coverage.rank_weights))
        against = reason_against(efficiency.measure, upper_bound * (1 + TOLERANCE), cap, efficiency.empirical)
        return [
            equal("bound on the size", GRID_BETTING, efficiency.bound),
            equal("rows of the size counts", certificate.members[-1].n, counts.rows),
            # Counts are rounded up by less than a step.
            Check(
                "mean efficiency",
                mean * (1 - TOLERANCE) <= counts.mean + TOLERANCE <= mean + 1 / steps + 2 * TOLERANCE,
                counts.mean,
                mean,
            ),
            equal("member sizes", [None] * members, column(certificate, "efficiency_bound")),
            equal("member size counts", [None] * members, column(certificate, "size_counts")),
            close(
                "mean size bound",
                pool_upper_bound(counts, coverage.share(efficiency.gamma), cap, grid),
                upper_bound,
            ),
            equal("worth stating", None, against),
        ]

    def size_quantile_checks(self, certificate: CertificateContent) -> list[Check]:
        efficiency, members = certificate.efficiency, certificate.members
        nothing = [(None, None)] * len(members)
        checks = [equal("member size quantiles", nothing, [(one.size_k, one.size_quantile) for one in members])]
        quantile, grid = efficiency.quantile, efficiency.grid_size
        if quantile is None:
            return checks
        if grid is None:
            return [*checks, Check("grid of the size quantile", False, "a number", None)]
        gamma = certificate.coverage.share(efficiency.gamma)
        most = pool_quantile_rank(members[-1].n or 0, gamma, grid, quantile.share)
        return [
            *checks,
            equal("gamma of the size quantile", efficiency.gamma, quantile.gamma),
            Check("size rank", 1 <= (quantile.k or 0) <= most, f"from 1 to {most}", quantile.k),
            Check("size quantile", quantile.size >= 0, "at least 0", quantile.size),
        ]

    def member_alpha(self, coverage: Coverage) -> float | None:
        return None

    def promised_alpha(self, coverage: Coverage) -> float:
        return coverage.alpha

    def budgets(self, coverage: Coverage, ranks: Ints) -> Floats:
        """log(delta / tail) at ranks that are shared out in proportion to the blocks, for so many ranks in all."""
        sizes = np.array(coverage.sizes or [])
        places = np.unique(np.linspace(0, len(ranks) - 1, _POINTS_OF_FIGURE).astype(np.int64))
        shares = (sizes + 1) / (coverage.n + sizes.size)
        room = [self._room(coverage, np.maximum(1, np.floor(total * shares)).astype(int)) for total in ranks[places]]
        return np.interp(ranks, ranks[places], room)

    def _room(self, coverage: Coverage, ranks: Ints) -> float:
        tail = progressive_tail(coverage.sizes or [], ranks, coverage.alpha, coverage.rank_weights)
        return math.log(coverage.share(coverage.delta)) - math.log(tail)

    def spent(self, certificate: CertificateContent) -> tuple[list[int], list[float]]:
        """Nothing: what is learned from the blocks before is free."""
        return [certificate.coverage.k], [0.0]


def _of_every(certificate: CertificateContent, name: str) -> list[Any]:
    """One number of every member; without it nobody knows how a pool is served."""
    found = column(certificate, name)
    if None in found:
        raise DamagedFileError(f"the certificate does not state {name} of each member of its pool.")
    return found


PROGRESSIVE = ProgressivePool("progressive")
