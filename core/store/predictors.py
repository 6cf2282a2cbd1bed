"""What a fit left behind: the predictor and its certificate, both named by their content."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFoundError
from core.store.paging import Page
from core.store.records import Calibration, CertificateRecord, PredictorRecord


@dataclass(frozen=True)
class Outcome:
    """The fit's result, as the fitting process hands it over."""

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

    def add(self, calibration: Calibration, outcome: Outcome) -> None:
        """Stores both; an equal fit has stored them already, and then that one stays."""
        if self._session.get(PredictorRecord, (calibration.tenant, outcome.predictor_id)) is not None:
            return
        self._session.add(
            PredictorRecord(
                tenant=calibration.tenant,
                id=outcome.predictor_id,
                calibration_id=calibration.id,
                name=calibration.name,
                task=calibration.manifest["task"],
                score=outcome.score,
                members=outcome.members,
                description=outcome.description,
                artifact=outcome.artifact,
                certificate_id=outcome.certificate_id,
            )
        )
        self._session.add(
            CertificateRecord(
                tenant=calibration.tenant,
                id=outcome.certificate_id,
                predictor_id=outcome.predictor_id,
                dataset_id=calibration.dataset_id,
                model_id=calibration.model_id,
                digest=outcome.digest,
                alpha=outcome.alpha,
                bound=outcome.bound,
                document=outcome.document,
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
        """Newest first. Ids say nothing about age here, so the cursor is the calibration's."""
        chosen = select(PredictorRecord).where(PredictorRecord.tenant == tenant)
        if cursor is not None:
            chosen = chosen.where(PredictorRecord.calibration_id < cursor)
        found = list(self._session.scalars(chosen.order_by(PredictorRecord.calibration_id.desc()).limit(limit + 1)))
        more = len(found) > limit
        return Page(found[:limit], found[limit - 1].calibration_id if more else None)
