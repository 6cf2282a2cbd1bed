"""The result of a fit: the predictor and its certificate, both named by their content."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError, WithdrawnError
from certiset.core.store.clock import now
from certiset.core.store.identifiers import nothing_called
from certiset.core.store.paging import Page
from certiset.core.store.records import Calibration, CertificateRecord, PredictorRecord
from certiset.core.store.summaries import Summaries


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
    stored_bytes: int = 0
    """of the artifact"""


class Predictors:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._summaries = Summaries(session)

    def add(self, calibration: Calibration, result: FitResult) -> None:
        """Stores both, unless an identical fit has already stored them; one that was deleted is served again."""
        known = self._session.get(PredictorRecord, (calibration.tenant, result.predictor_id), with_for_update=True)
        if known is not None:
            if known.withdrawn_at is not None:
                known.withdrawn_at, known.artifact, known.stored_bytes = None, result.artifact, result.stored_bytes
                known.calibration_id, known.name = calibration.id, calibration.name
                self._summaries.put(known, calibration, result.document, result.alpha)
            return
        made = PredictorRecord(
            tenant=calibration.tenant,
            id=result.predictor_id,
            calibration_id=calibration.id,
            name=calibration.name,
            task=calibration.manifest["task"],
            score=result.score,
            members=result.members,
            description=result.description,
            artifact=result.artifact,
            stored_bytes=result.stored_bytes,
            certificate_id=result.certificate_id,
        )
        self._session.add(made)
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
        self._session.flush()
        self._session.refresh(made)
        self._summaries.put(made, calibration, result.document, result.alpha)

    def add_imported(self, tenant: str, place: str, name: str, result: FitResult) -> PredictorRecord:
        """One that was fitted elsewhere; ``place`` is where it stands in lists, as the id of a calibration would."""
        job = Calibration(
            id=place, tenant=tenant, name=name, manifest=result.description["manifest"], dataset_id="", model_id=""
        )
        self.add(job, result)
        record = self.get(tenant, result.predictor_id)
        record.imported = True
        return record

    def get(self, tenant: str, id: str) -> PredictorRecord:
        found = self._session.get(PredictorRecord, (tenant, id))
        if found is None:
            raise NotFoundError(nothing_called("predictor", id))
        if found.withdrawn_at is not None:
            raise WithdrawnError(
                f"Predictor {id} was deleted and is no longer served; its certificate {found.certificate_id} can still "
                "be read, and is marked as withdrawn."
            )
        return found

    def find(self, tenant: str, id: str) -> PredictorRecord | None:
        """Also one that was deleted."""
        return self._session.get(PredictorRecord, (tenant, id))

    def withdraw(self, record: PredictorRecord) -> None:
        """No longer served; the record stays, so that its certificate can be told from one in force."""
        self._session.execute(
            update(PredictorRecord)
            .where(PredictorRecord.tenant == record.tenant, PredictorRecord.id == record.id)
            .values(withdrawn_at=now(), stored_bytes=0)
        )
        self._summaries.remove(record.tenant, record.id)

    def is_withdrawn(self, tenant: str, id: str) -> bool:
        found = self._session.get(PredictorRecord, (tenant, id))
        return found is None or found.withdrawn_at is not None

    def set_serving(self, tenant: str, id: str, serve: str) -> PredictorRecord:
        found = self.get(tenant, id)
        found.serve = serve
        return found

    def of(self, tenant: str, ids: Sequence[str]) -> Sequence[PredictorRecord]:
        """Those, in that order."""
        chosen = select(PredictorRecord).where(PredictorRecord.tenant == tenant, PredictorRecord.id.in_(ids))
        found = {record.id: record for record in self._session.scalars(chosen)}
        return [found[id] for id in ids if id in found]

    def list(self, tenant: str, *, limit: int = 50, cursor: str | None = None) -> Page[PredictorRecord]:
        """Newest first. These ids do not sort by age, so the cursor is the calibration's id."""
        chosen = select(PredictorRecord).where(PredictorRecord.tenant == tenant, PredictorRecord.withdrawn_at.is_(None))
        if cursor is not None:
            chosen = chosen.where(PredictorRecord.calibration_id < cursor)
        found = list(self._session.scalars(chosen.order_by(PredictorRecord.calibration_id.desc()).limit(limit + 1)))
        more = len(found) > limit
        return Page(found[:limit], found[limit - 1].calibration_id if more else None)
