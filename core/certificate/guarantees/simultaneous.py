"""One fixed predictor at every level at once: alpha may be chosen after sizes, sets and outcomes have been seen."""

from typing import ClassVar

from certiset.core.bounds import TooFewPointsError, simultaneous_rank, smallest_n_2b
from certiset.core.certificate.checks import Check
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.guarantees.vovk import Vovk
from certiset.core.certificate.level_checks import level_checks, smallest_alpha
from certiset.core.certificate.levels import ALPHA_MAX
from certiset.core.certificate.population import contains_the_truth_for
from certiset.core.certificate.rounding import promise


class Simultaneous(Vovk):
    """By the joint law of all ranks. What else the certificate says is at one of the levels, ``coverage.alpha``."""

    all_levels: ClassVar[bool] = True

    def rank(self, n: int, alpha: float, delta: float) -> int:
        try:
            return int(simultaneous_rank(n, alpha, delta, ALPHA_MAX))
        except TooFewPointsError:
            return 0

    def smallest_n(self, alpha: float, delta: float) -> int:
        """More than for one level; found by bisection, since each further point makes the first level smaller."""
        low = int(smallest_n_2b(alpha, delta)) - 1
        high = 2 * low + 2
        while not self.rank(high, alpha, delta):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.rank(middle, alpha, delta) else (middle, high)
        return high

    def statement(self, certificate: CertificateContent) -> str:
        coverage, levels = certificate.coverage, certificate.levels
        least = 0.0 if levels is None else smallest_alpha(certificate, levels)
        share = contains_the_truth_for(certificate, "a share 1 - alpha")
        return (
            f"With probability at least {promise(coverage.delta)} over the drawing of the {coverage.n} calibration "
            f"points, for every alpha from {least:.4g} on, all at once, the sets of this predictor at alpha {share}. "
            "So alpha may be chosen after sizes, sets and outcomes were seen; it is one alpha for all inputs, and not "
            "one for each."
        )

    def coverage_checks(self, certificate: CertificateContent) -> list[Check]:
        return [*super().coverage_checks(certificate), *level_checks(certificate)]


SIMULTANEOUS = Simultaneous("simultaneous")
