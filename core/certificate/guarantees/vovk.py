"""One fixed predictor, whose parameters were not chosen with D_N: Vovk's bounds 2a and 2b."""

from typing import ClassVar

from certiset.core.bounds import calibration_rank, smallest_n_2a, smallest_n_2b, vovk_2a, vovk_2b
from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.guarantees.base import MemberwiseGuarantee, column
from certiset.core.certificate.population import contains_the_truth
from certiset.core.certificate.rounding import promise


class Vovk(MemberwiseGuarantee):
    needs_posterior: ClassVar[bool] = False

    def statement(self, certificate: CertificateContent) -> str:
        coverage = certificate.coverage
        return (
            f"With probability at least {promise(coverage.delta)} over the drawing of the {coverage.n} calibration "
            f"points, the sets of this predictor {contains_the_truth(certificate, coverage.alpha)}."
        )

    def coverage_checks(self, certificate: CertificateContent) -> list[Check]:
        coverage = certificate.coverage
        largest = self.rank(coverage.n, coverage.alpha, coverage.share(coverage.delta)) or 0
        return [
            Check("rank", coverage.k <= largest, f"at most {largest}", coverage.k),
            equal("member rank", [coverage.k], column(certificate, "k")),
            equal("log-ratio", [0.0], column(certificate, "log_ratio")),
            equal("divergence", 0.0, coverage.kl),
            equal("draws", 1, coverage.draws),
            equal("open ranks", ([coverage.k], [1.0]), (coverage.ranks, coverage.rank_weights)),
            equal("budget", None, coverage.kl_budget),
            *self.whole_promise(coverage),
        ]


class Vovk2a(Vovk):
    """By Hoeffding's inequality: conservative, in closed form."""

    def rank(self, n: int, alpha: float, delta: float) -> int:
        return int(calibration_rank(n, vovk_2a(n, alpha, delta)))

    def smallest_n(self, alpha: float, delta: float) -> int:
        return int(smallest_n_2a(alpha, delta))


class Vovk2b(Vovk):
    """By the exact law of the miscoverage."""

    def rank(self, n: int, alpha: float, delta: float) -> int:
        return int(vovk_2b(n, alpha, delta))

    def smallest_n(self, alpha: float, delta: float) -> int:
        return int(smallest_n_2b(alpha, delta))


VOVK_2A = Vovk2a("vovk_2a")
VOVK_2B = Vovk2b("vovk_2b")
