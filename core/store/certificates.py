"""Certificates: written once with their predictor, never changed."""

from collections.abc import Sequence

from sqlalchemy import exists, select, tuple_
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError
from certiset.core.store.identifiers import nothing_called
from certiset.core.store.paging import Page
from certiset.core.store.records import CertificateRecord, Monitor, PredictorRecord

SIZES = "betting"
"""the bound of statements about sizes, which are kept among the certificates"""


class Certificates:
    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, tenant: str, id: str) -> CertificateRecord:
        found = self._session.get(CertificateRecord, (tenant, id))
        if found is None:
            raise NotFoundError(nothing_called("certificate", id))
        return found

    def add(self, record: CertificateRecord) -> None:
        self._session.add(record)
        self._session.flush()

    def on_sizes(self, tenant: str, predictor_id: str) -> Sequence[CertificateRecord]:
        """Statements about sizes on fresh inputs, oldest first."""
        record = CertificateRecord
        chosen = select(record).where(
            record.tenant == tenant, record.predictor_id == predictor_id, record.bound == SIZES
        )
        return self._session.scalars(chosen.order_by(record.created_at, record.id)).all()

    def list(
        self,
        tenant: str,
        *,
        predictor_id: str | None = None,
        dataset_id: str | None = None,
        model_id: str | None = None,
        alpha: float | None = None,
        bound: str | None = None,
        validity: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[CertificateRecord]:
        """Those that match all filters, newest first; validity is consistent, contradicted or withdrawn."""
        record = CertificateRecord
        chosen = select(record).where(record.tenant == tenant)
        for column, value in (
            (record.predictor_id, predictor_id),
            (record.dataset_id, dataset_id),
            (record.model_id, model_id),
            (record.alpha, alpha),
            (record.bound, bound),
        ):
            if value is not None:
                chosen = chosen.where(column == value)
        contradicted = exists().where(
            Monitor.tenant == record.tenant,
            Monitor.predictor_id == record.predictor_id,
            Monitor.contradicted_at.is_not(None),
        )
        withdrawn = exists().where(
            PredictorRecord.tenant == record.tenant,
            PredictorRecord.id == record.predictor_id,
            PredictorRecord.withdrawn_at.is_not(None),
        )
        # What outcomes contradict stays contradicted when its predictor is deleted: nobody can hide it that way.
        by_validity = {"contradicted": contradicted, "withdrawn": withdrawn, "consistent": ~contradicted & ~withdrawn}
        if validity is not None:
            chosen = chosen.where(by_validity[validity])
        if cursor is not None:
            after = self._session.get(record, (tenant, cursor))
            if after is None:
                return Page([], None)
            chosen = chosen.where(tuple_(record.created_at, record.id) < (after.created_at, after.id))
        newest = chosen.order_by(record.created_at.desc(), record.id.desc())
        found = list(self._session.scalars(newest.limit(limit + 1)))
        return Page(found[:limit], found[limit - 1].id if len(found) > limit else None)
