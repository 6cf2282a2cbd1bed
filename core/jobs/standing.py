"""What has become of a certificate since it was issued."""

from dataclasses import dataclass
from typing import Any

from certiset.core.jobs.views import certificate_status, instant
from certiset.core.store.records import CertificateRecord
from certiset.core.store.store import Transaction

_IN_FORCE = "in force"


@dataclass(frozen=True)
class Standing:
    withdrawn: bool
    """its predictor was deleted"""
    contradicted_at: float | None
    """when reported outcomes first contradicted it"""
    outcomes: int
    misses: int
    attempts: int | None
    """on its rows until now; None if that is not known"""

    @property
    def status(self) -> str:
        return certificate_status(contradicted=self.contradicted_at is not None, withdrawn=self.withdrawn)

    def word(self) -> dict[str, Any]:
        """For a reader who will be offline later; a certificate that was contradicted and then withdrawn shows both."""
        return {
            "status": _IN_FORCE if self.status == "consistent" else self.status,
            "contradicted_at": instant(self.contradicted_at),
            "outcomes": self.outcomes,
            "misses": self.misses,
            "attempts": self.attempts,
        }


def standing_of(work: Transaction, record: CertificateRecord) -> Standing:
    monitor = work.outcomes.monitor(record.tenant, record.predictor_id)
    return Standing(
        withdrawn=work.predictors.is_withdrawn(record.tenant, record.predictor_id),
        contradicted_at=monitor.contradicted_at,
        outcomes=monitor.outcomes,
        misses=monitor.misses,
        attempts=work.attempts.so_far(record.tenant, record.predictor_id),
    )
