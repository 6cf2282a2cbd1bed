"""Records that belong to a tenant and have an id of their own: added, found, listed and deleted alike."""

from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.identifiers import nothing_called
from certiset.core.store.paging import Page, page_of
from certiset.core.store.records import Calibration, Dataset, ModelRecord
from certiset.core.store.searching import contains

R = TypeVar("R", Dataset, ModelRecord, Calibration, BatchRecord)
NEWEST = "newest"
ORDERS = (NEWEST, "oldest")
"""in which they can be listed"""


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
            raise self._not_found(id, tenant)
        return found

    def find(self, id: str) -> R | None:
        """One of any tenant, for workers and operators, as it is in the database now."""
        found: R | None = self._session.get(self.record, id, populate_existing=True)
        return found

    def list(
        self,
        tenant: str | None,
        *,
        limit: int = 50,
        cursor: str | None = None,
        search: str | None = None,
        sort: str = NEWEST,
        **having: Any,
    ) -> Page[R]:
        """Of all tenants if none is given. ``having`` names columns and values, ``search`` is a part of name or id."""
        chosen = self._chosen(tenant=tenant, **having)
        if search:
            chosen = chosen.where(contains((self.record.name, self.record.id), search))
        return page_of(self._session, chosen, self.record.id, limit, cursor, newest=sort == NEWEST)

    def delete(self, record: R) -> None:
        self._session.delete(record)

    def _chosen(self, **having: Any) -> Select[Any]:
        """With these values in these columns, as far as they are given."""
        columns = {name: value for name, value in having.items() if value is not None}
        return select(self.record).filter_by(**columns)

    def _one(self, **having: Any) -> R | None:
        found: R | None = self._session.scalars(self._chosen(**having)).one_or_none()
        return found

    def _not_found(self, id: str, tenant: str | None = None) -> NotFoundError:
        """With the id of the newest that has such a name, where a name was given instead of one."""
        named = self._chosen(tenant=tenant, name=id).order_by(self.record.id.desc()).limit(1)
        found = None if tenant is None else self._session.scalars(named).first()
        if found is not None:
            return NotFoundError(f"{id!r} is a {self.noun}'s name; its id is {found.id}.")
        return NotFoundError(nothing_called(self.noun, id))
