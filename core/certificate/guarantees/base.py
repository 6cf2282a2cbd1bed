"""What every guarantee knows: its plan before the data, its numbers after the draws, its sentence and its checks."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certiset.core.bounds import per_draw_budget
from certiset.core.bounds.domain import Floats, Ints
from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.content import CertificateContent, Coverage
from certiset.core.certificate.member_sizes import member_mean_checks, member_quantile_checks


@dataclass(frozen=True)
class Step:
    """A posterior step as it is planned before the data are seen: its level, its ranks and its budget."""

    level: float
    """alpha_hat"""
    k: int
    budget: float
    """as the certificate states it, in nats"""
    target: float
    """what the optimizer may spend"""
    open_ranks: list[int]
    rank_weights: list[float]


@dataclass(frozen=True)
class CoverageLevels:
    miscoverage_bound: float
    pool_miscoverage_bound: float
    """for the mean over the members that are really served"""
    pool_delta: float
    """spent on the pool bound, on top of delta"""


class Guarantee(ABC):
    """One way to promise coverage for a pool of members, and all that the rest of the project knows about it."""

    name: ClassVar[str]
    """what users ask for: per_draw, pool or posterior"""
    unit: ClassVar[str]
    """of what a posterior spends"""
    risks: ClassVar[int] = 1
    """how many times delta the promise may fail with: more where what is served is promised by a further bound"""
    needs_posterior: ClassVar[bool] = True
    """whether it is about draws from a posterior, and not about one fixed predictor"""
    promises_each_member: ClassVar[bool] = False
    """whether every member keeps the promise by itself, so that one may be served alone"""
    all_levels: ClassVar[bool] = False
    """whether it holds for all alpha at once, so that each set is asked for at one of them"""
    by_group: ClassVar[bool] = False
    """whether every group has thresholds of its own"""
    fixed_beforehand: ClassVar[str] = (
        "The prior, the ranks, the weights and the number of draws were fixed before the calibration rows were seen."
    )
    """the assumption that says what must not depend on D_N"""

    def __init__(self, bound: str) -> None:
        self.bound = self.kind = bound
        """the theorem, as the certificate names it"""

    def rank(self, n: int, alpha: float, delta: float) -> int | None:
        """The rank of a single fixed predictor; None for guarantees about posteriors."""
        return None

    def smallest_n(self, alpha: float, delta: float) -> int | None:
        """The fewest calibration points for which `rank` has an answer."""
        return None

    def step(self, n: int, alpha: float, delta: float, level: float, members: int) -> Step | None:
        """The plan of a posterior step at that level; None where no rank or no budget is left."""
        return None

    def draws(self, members: int) -> int:
        """How many are drawn from a posterior, and paid for, so that so many members can be served."""
        return members

    def ranks(self, step: Step, n: int, alpha: float, delta: float, kl: float, log_ratios: Floats) -> Ints:
        """The rank that each draw is served with; 0 for a draw that must not be served."""
        return np.zeros(len(log_ratios), dtype=np.int64)

    @abstractmethod
    def levels(
        self, n: int, alpha: float, delta: float, share: float, k: int, kl: float, members: int
    ) -> CoverageLevels:
        """What is promised; ``share`` is the part of delta that the choice was given."""

    def weights(self, certificate: CertificateContent) -> list[float] | None:
        """The chance of each member to be drawn for an input; None where all have the same."""
        return None

    def blocks(self, certificate: CertificateContent) -> list[range]:
        """Which of the calibration points, in the order of the split, each member's rank is among."""
        return [range(certificate.coverage.n)] * len(certificate.members)

    def alpha_hat(self, coverage: Coverage) -> float:
        return coverage.k / (coverage.n + 1)

    def member_checks(self, certificate: CertificateContent) -> list[Check]:
        """That nothing is said about members which this guarantee does not know: who serves by it would be misled."""
        said = [name for name in ("weight", "n", "tuned_on") if any(v is not None for v in column(certificate, name))]
        coverage, efficiency = certificate.coverage, certificate.efficiency
        said += [name for name in ("sizes", "tail") if getattr(coverage, name) is not None]
        said += ["size_counts"] if efficiency.size_counts is not None else []
        said += ["k"] if efficiency.quantile is not None and efficiency.quantile.k is not None else []
        return [equal("fields of a pool", [], said)]

    def mean_size_checks(self, certificate: CertificateContent, upper_bound: float) -> list[Check]:
        """The bound on the mean size, which is not that of sets of one size, recomputed."""
        return member_mean_checks(certificate, upper_bound)

    def size_quantile_checks(self, certificate: CertificateContent) -> list[Check]:
        """The size that few sets exceed, or that none is stated."""
        return member_quantile_checks(certificate, drawn=self.needs_posterior)

    @abstractmethod
    def statement(self, certificate: CertificateContent) -> str:
        """The promise in one sentence: what, with which probability, and over which randomness."""

    @abstractmethod
    def coverage_checks(self, certificate: CertificateContent) -> list[Check]:
        """The coverage part of a certificate, recomputed from its other numbers."""

    @abstractmethod
    def member_alpha(self, coverage: Coverage) -> float | None:
        """The miscoverage that is promised for one member alone; None where nothing is."""

    @abstractmethod
    def promised_alpha(self, coverage: Coverage) -> float:
        """The miscoverage that is promised for the pool that is served."""

    @abstractmethod
    def budgets(self, coverage: Coverage, ranks: Ints) -> Floats:
        """What the bound allows to spend at each rank, for a figure."""

    @abstractmethod
    def spent(self, certificate: CertificateContent) -> tuple[list[int], list[float]]:
        """(ranks, what was spent there), for a figure."""


class MemberwiseGuarantee(Guarantee):
    """Every member keeps the promise by itself, so any mixture of them does, at no further risk."""

    name: ClassVar[str] = "per_draw"
    unit: ClassVar[str] = "log-ratio in nats"
    promises_each_member: ClassVar[bool] = True

    def levels(
        self, n: int, alpha: float, delta: float, share: float, k: int, kl: float, members: int
    ) -> CoverageLevels:
        return CoverageLevels(alpha, alpha, 0.0)

    def member_alpha(self, coverage: Coverage) -> float | None:
        return coverage.alpha

    def promised_alpha(self, coverage: Coverage) -> float:
        return coverage.alpha

    def budgets(self, coverage: Coverage, ranks: Ints) -> Floats:
        return np.asarray(
            per_draw_budget(coverage.n, ranks, coverage.alpha, coverage.share(coverage.delta), 1.0, coverage.draws)
        )

    def spent(self, certificate: CertificateContent) -> tuple[list[int], list[float]]:
        return [member.k for member in certificate.members], [member.log_ratio for member in certificate.members]

    def whole_promise(self, coverage: Coverage) -> list[Check]:
        return [
            equal("miscoverage bound", coverage.alpha, coverage.miscoverage_bound),
            equal("pool miscoverage bound", coverage.alpha, coverage.pool_miscoverage_bound),
            equal("pool delta", 0.0, coverage.pool_delta),
        ]


def column(certificate: CertificateContent, name: str) -> list[Any]:
    """One number of every member."""
    return [getattr(member, name) for member in certificate.members]


def as_array(values: list[float]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)
