"""Records that belong to a tenant and have an id of their own: added, found, listed and deleted alike."""

from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError
from certiset.core.store.paging import Page, page_of
from certiset.core.store.records import Calibration, Dataset, ModelRecord

R = TypeVar("R", Dataset, ModelRecord, Calibration)


class OwnedRecords(Generic[R]):
    record: ClassVar[type[Any]]
    noun: ClassVar[str]
    """what messages call one of them"""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, made: R) -> R:
        self._session.add(made)
        self._session.flush()
        self._session.refresh(made)
        return made

    def get(self, tenant: str, id: str) -> R:
        """Another tenant's is not found, either."""
        found = self.find(id)
        if found is None or found.tenant != tenant:
            raise self._not_found(id)
        return found

    def find(self, id: str) -> R | None:
        """One of any tenant, for workers and operators, as it is in the database now."""
        found: R | None = self._session.get(self.record, id, populate_existing=True)
        return found

    def list(self, tenant: str | None, *, limit: int = 50, cursor: str | None = None, **having: Any) -> Page[R]:
        """Newest first; of all tenants if none is given. ``having`` names columns and their values."""
        return page_of(self._session, self._chosen(tenant=tenant, **having), self.record.id, limit, cursor)

    def delete(self, record: R) -> None:
        self._session.delete(record)

    def _chosen(self, **having: Any) -> Select[Any]:
        """With these values in these columns, as far as they are given."""
        columns = {name: value for name, value in having.items() if value is not None}
        return select(self.record).filter_by(**columns)

    def _one(self, **having: Any) -> R | None:
        found: R | None = self._session.scalars(self._chosen(**having)).one_or_none()
        return found

    def _not_found(self, id: str) -> NotFoundError:
        return NotFoundError(f"There is no {self.noun} {id}.")
