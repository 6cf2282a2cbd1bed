"""What a monitor watches of a certificate, and how eta, the chance of a false alarm, is shared between it."""

from dataclasses import dataclass

from certiset.core.certificate import Certificate
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.store.monitors import Levels
from certiset.core.store.store import Transaction


@dataclass(frozen=True)
class Watched:
    alpha: float
    """the miscoverage that was promised for what is served"""
    cap: float | None
    """sizes above it count as it; None: no size is certified"""
    mean_size: float | None
    member_sizes: tuple[float | None, ...] = ()
    """certified for each member, where one is"""

    @classmethod
    def by(cls, certificate: Certificate) -> "Watched":
        coverage, efficiency = certificate.coverage, certificate.efficiency
        alpha = guarantee_of(coverage).promised_alpha(coverage)
        if efficiency.cap is None or efficiency.upper_bound is None or efficiency.upper_bound <= 0:
            return cls(alpha, None, None)
        sizes = tuple(member.efficiency_bound for member in certificate.members)
        return cls(alpha, efficiency.cap, efficiency.upper_bound, sizes)

    def levels(self, eta: float) -> Levels:
        """Half of eta each for misses and sizes, so that either alarm is false with probability at most eta."""
        return Levels(self.alpha, eta, None) if self.cap is None else Levels(self.alpha, eta / 2, eta / 2)

    def size(self, member: int, size: float) -> tuple[float, float] | None:
        """A set's size and what was certified for its mean, as shares of the cap."""
        if self.cap is None or self.mean_size is None:
            return None
        own = self.member_sizes[member] if 0 <= member < len(self.member_sizes) else None
        return min(size / self.cap, 1.0), (own or self.mean_size) / self.cap


def watched(work: Transaction, tenant: str, predictor_id: str) -> Watched:
    """By the stored certificate of a predictor that is served."""
    record = work.certificates.get(tenant, work.predictors.get(tenant, predictor_id).certificate_id)
    return Watched.by(Certificate.from_json(record.document))
