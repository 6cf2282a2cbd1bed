"""What routes ask for: the service, the caller, the store in which the caller acts, and which page of a list."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from certiset.core.store import Store
from certiset.core.store.owned_records import NEWEST, OwnedRecords, R
from certiset.core.store.paging import Page
from certiset.service.http.access.actors import actor_of
from certiset.service.http.access.keys import Caller
from certiset.service.http.schemas.common import Cursor, Limit
from certiset.service.http.schemas.lists import Order, Search
from certiset.service.http.state import Service


async def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


async def _caller(request: Request) -> Caller:
    found: Caller = request.state.caller
    return found


async def _acting(request: Request) -> Store:
    service: Service = request.app.state.service
    return service.store.acting_for(actor_of(request.scope, request.state.caller))


@dataclass(frozen=True)
class ListQuery:
    """Which of a tenant's records are wanted, in which order, and which page of them."""

    search: str | None
    sort: str
    limit: int
    cursor: str | None

    def page(self, records: OwnedRecords[R], tenant: str, **having: Any) -> Page[R]:
        """Of those that have these values in these columns."""
        return records.list(tenant, search=self.search, sort=self.sort, limit=self.limit, cursor=self.cursor, **having)


async def _list_query(
    search: Search = None, sort: Order = NEWEST, limit: Limit = 50, cursor: Cursor = None
) -> ListQuery:
    return ListQuery(search, sort, limit, cursor)


TheService = Annotated[Service, Depends(_service)]
TheCaller = Annotated[Caller, Depends(_caller)]
ActingStore = Annotated[Store, Depends(_acting)]
"""the store, for routes that change something: it is logged as the caller's doing"""
TheListQuery = Annotated[ListQuery, Depends(_list_query)]
