"""The mean over a posterior (the paper's promise), and what it says of the pool that was drawn from it."""

from typing import ClassVar

import numpy as np

from certiset.core.bounds import (
    PosteriorBound,
    TooFewPointsError,
    calibration_rank,
    kl_budget,
    miscoverage_bound,
    pool_miscoverage_bound,
)
from certiset.core.bounds.domain import Floats, Ints
from certiset.core.certificate.checks import TOLERANCE, Check, close, equal
from certiset.core.certificate.content import CertificateContent, Coverage
from certiset.core.certificate.guarantees.base import (
    CoverageLevels,
    Guarantee,
    Step,
    column,
)
from certiset.core.certificate.population import contains_the_truth
from certiset.core.certificate.rounding import promise, risk


class PosteriorMean(Guarantee):
    name: ClassVar[str] = "posterior"
    unit: ClassVar[str] = "KL in nats"
    risks: ClassVar[int] = 2

    def __init__(self, bound: PosteriorBound) -> None:
        super().__init__(bound)
        self._bound: PosteriorBound = bound

    def step(self, n: int, alpha: float, delta: float, level: float, members: int) -> Step | None:
        try:
            k = int(calibration_rank(n, level))
        except TooFewPointsError:
            return None
        budget = float(kl_budget(n, k, alpha, delta, self._bound))
        return Step(level, k, budget, budget, [k], [1.0])

    def ranks(self, step: Step, n: int, alpha: float, delta: float, kl: float, log_ratios: Floats) -> Ints:
        return np.full(len(log_ratios), step.k if kl <= step.budget else 0, dtype=np.int64)

    def levels(
        self, n: int, alpha: float, delta: float, share: float, k: int, kl: float, members: int
    ) -> CoverageLevels:
        level = float(miscoverage_bound(n, k, share, kl, self._bound, alpha))
        # As much again as delta, and shared out alike: the choice was made with all pools in view.
        return CoverageLevels(level, float(pool_miscoverage_bound(level, members, share)), delta)

    def statement(self, certificate: CertificateContent) -> str:
        coverage, members = certificate.coverage, len(certificate.members)
        return (
            f"With probability at least {promise(coverage.delta)} over the drawing of the {coverage.n} calibration "
            f"points, sets whose member is drawn from the posterior {contains_the_truth(certificate, coverage.alpha)}, "
            f"on average over the posterior; for the {members} stored members together at least "
            f"{promise(coverage.pool_miscoverage_bound)} is promised, except with a "
            f"further probability of at most {risk(coverage.pool_delta)} over their drawing."
        )

    def coverage_checks(self, certificate: CertificateContent) -> list[Check]:
        coverage = certificate.coverage
        n, k, alpha, share = coverage.n, coverage.k, coverage.alpha, coverage.share(coverage.delta)
        ranks = column(certificate, "k")
        budget = float(kl_budget(n, k, alpha, share, self._bound))
        level = float(miscoverage_bound(n, k, share, coverage.kl, self._bound, alpha))
        pool = float(pool_miscoverage_bound(level, len(ranks), coverage.share(coverage.pool_delta)))
        return [
            equal("draws", coverage.draws, len(ranks)),
            equal("ranks", [k] * len(ranks), ranks),
            equal("open ranks", ([k], [1.0]), (coverage.ranks, coverage.rank_weights)),
            close("budget", budget, coverage.kl_budget),
            Check("KL within budget", coverage.kl <= budget, f"at most {budget}", coverage.kl),
            close("miscoverage bound", level, coverage.miscoverage_bound),
            Check("promise", level <= alpha * (1 + TOLERANCE), f"at most {alpha}", level),
            close("pool miscoverage bound", pool, coverage.pool_miscoverage_bound),
        ]

    def member_alpha(self, coverage: Coverage) -> float | None:
        return None

    def promised_alpha(self, coverage: Coverage) -> float:
        return coverage.pool_miscoverage_bound

    def budgets(self, coverage: Coverage, ranks: Ints) -> Floats:
        return np.asarray(kl_budget(coverage.n, ranks, coverage.alpha, coverage.share(coverage.delta), self._bound))

    def spent(self, certificate: CertificateContent) -> tuple[list[int], list[float]]:
        return [certificate.coverage.k], [certificate.coverage.kl]


SEEGER = PosteriorMean("seeger")
CHERNOFF = PosteriorMean("chernoff")
