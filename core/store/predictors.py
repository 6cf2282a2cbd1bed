"""The result of a fit: the predictor and its certificate, both named by their content."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError
from certiset.core.store.paging import Page
from certiset.core.store.records import Calibration, CertificateRecord, PredictorRecord


@dataclass(frozen=True)
class FitResult:
    """As the fitting process returns it."""

    predictor_id: str
    certificate_id: str
    digest: str
    alpha: float
    bound: str
    score: str
    members: int
    description: dict[str, Any]
    artifact: str
    document: str
    """the certificate as JSON text"""


class Predictors:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, calibration: Calibration, result: FitResult) -> None:
        """Stores both, unless an identical fit has already stored them."""
        if self._session.get(PredictorRecord, (calibration.tenant, result.predictor_id)) is not None:
            return
        self._session.add(
            PredictorRecord(
                tenant=calibration.tenant,
                id=result.predictor_id,
                calibration_id=calibration.id,
                name=calibration.name,
                task=calibration.manifest["task"],
                score=result.score,
                members=result.members,
                description=result.description,
                artifact=result.artifact,
                certificate_id=result.certificate_id,
            )
        )
        self._session.add(
            CertificateRecord(
                tenant=calibration.tenant,
                id=result.certificate_id,
                predictor_id=result.predictor_id,
                dataset_id=calibration.dataset_id,
                model_id=calibration.model_id,
                digest=result.digest,
                alpha=result.alpha,
                bound=result.bound,
                document=result.document,
            )
        )

    def get(self, tenant: str, id: str) -> PredictorRecord:
        found = self._session.get(PredictorRecord, (tenant, id))
        if found is None:
            raise NotFoundError(f"There is no predictor {id}.")
        return found

    def set_serving(self, tenant: str, id: str, serve: str) -> PredictorRecord:
        found = self.get(tenant, id)
        found.serve = serve
        return found

    def list(self, tenant: str, *, limit: int = 50, cursor: str | None = None) -> Page[PredictorRecord]:
        """Newest first. These ids do not sort by age, so the cursor is the calibration's id."""
        chosen = select(PredictorRecord).where(PredictorRecord.tenant == tenant)
        if cursor is not None:
            chosen = chosen.where(PredictorRecord.calibration_id < cursor)
        found = list(self._session.scalars(chosen.order_by(PredictorRecord.calibration_id.desc()).limit(limit + 1)))
        more = len(found) > limit
        return Page(found[:limit], found[limit - 1].calibration_id if more else None)
