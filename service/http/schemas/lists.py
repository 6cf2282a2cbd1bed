"""How lists are searched and sorted."""

from typing import Annotated

from fastapi import Query

from certiset.core.store.overview import SORTS
from certiset.core.store.owned_records import ORDERS

Search = Annotated[str | None, Query(max_length=200, description="part of a name or an id, in any case")]
SortedBy = Annotated[str, Query(pattern=f"^({'|'.join(SORTS)})$", description="- for the largest first")]
Order = Annotated[str, Query(pattern=f"^({'|'.join(ORDERS)})$")]
AnyCursor = Annotated[
    str | None, Query(pattern=r"^[A-Za-z0-9_-]{1,1500}$", description="next_cursor of the page before")
]
