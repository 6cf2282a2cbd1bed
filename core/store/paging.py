"""Lists in pages, newest or oldest first: ids grow with time, so the last id of a page is where the next one begins."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute, Session

R = TypeVar("R")


@dataclass(frozen=True)
class Page(Generic[R]):
    items: list[R]
    next_cursor: str | None


def page_of(
    session: Session,
    chosen: Select[Any],
    id: InstrumentedAttribute[str],
    limit: int,
    cursor: str | None,
    *,
    newest: bool = True,
) -> Page[R]:
    if cursor is not None:
        chosen = chosen.where(id < cursor if newest else id > cursor)
    found: list[Any] = list(session.scalars(chosen.order_by(id.desc() if newest else id.asc()).limit(limit + 1)))
    more = len(found) > limit
    return Page(found[:limit], found[limit - 1].id if more else None)
