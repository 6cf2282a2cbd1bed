"""Calibration data that were uploaded."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError
from certiset.core.store.paging import Page, page_of
from certiset.core.store.records import Dataset


class Datasets:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, dataset: Dataset) -> Dataset:
        self._session.add(dataset)
        self._session.flush()
        self._session.refresh(dataset)
        return dataset

    def get(self, tenant: str, id: str) -> Dataset:
        found = self._session.get(Dataset, id)
        if found is None or found.tenant != tenant:
            raise NotFoundError(f"There is no dataset {id}.")
        return found

    def of_content(self, tenant: str, sha256: str, target: str) -> Dataset | None:
        """The same bytes, read in the same way, uploaded before."""
        chosen = select(Dataset).where(Dataset.tenant == tenant, Dataset.sha256 == sha256, Dataset.target == target)
        return self._session.scalars(chosen).one_or_none()

    def list(self, tenant: str, *, limit: int = 50, cursor: str | None = None) -> Page[Dataset]:
        return page_of(self._session, select(Dataset).where(Dataset.tenant == tenant), Dataset.id, limit, cursor)

    def delete(self, dataset: Dataset) -> None:
        self._session.delete(dataset)
