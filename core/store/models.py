"""Models that were uploaded."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError
from certiset.core.store.paging import Page, page_of
from certiset.core.store.records import ModelRecord


class Models:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, model: ModelRecord) -> ModelRecord:
        self._session.add(model)
        self._session.flush()
        self._session.refresh(model)
        return model

    def get(self, tenant: str, id: str) -> ModelRecord:
        found = self._session.get(ModelRecord, id)
        if found is None or found.tenant != tenant:
            raise NotFoundError(f"There is no model {id}.")
        return found

    def of_content(self, tenant: str, sha256: str) -> ModelRecord | None:
        chosen = select(ModelRecord).where(ModelRecord.tenant == tenant, ModelRecord.sha256 == sha256)
        return self._session.scalars(chosen).one_or_none()

    def delete(self, model: ModelRecord) -> None:
        self._session.delete(model)

    def list(self, tenant: str, *, limit: int = 50, cursor: str | None = None) -> Page[ModelRecord]:
        chosen = select(ModelRecord).where(ModelRecord.tenant == tenant)
        return page_of(self._session, chosen, ModelRecord.id, limit, cursor)
