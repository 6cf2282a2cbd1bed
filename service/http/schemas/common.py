"""What all schemas share: ids, pages, problems."""

from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from certiset.core.store.identifiers import ID_PATTERN, REFERENCE_PATTERN
from certiset.core.store.paging import Page

PathId = Annotated[str, Path(pattern=ID_PATTERN)]
QueryId = Annotated[str | None, Query(pattern=ID_PATTERN)]
PathReference = Annotated[
    str, Path(pattern=REFERENCE_PATTERN, description="a predictor's id, or the name of a deployment")
]
QueryReference = Annotated[
    str | None, Query(pattern=REFERENCE_PATTERN, description="a predictor's id, or the name of a deployment")
]
Limit = Annotated[int, Query(ge=1, le=200, description="maximum number of items")]
Cursor = Annotated[str | None, Query(pattern=ID_PATTERN, description="next_cursor of the page before")]

R = TypeVar("R")
T = TypeVar("T")


class Strict(BaseModel):
    """A request: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class NameRequest(Strict):
    name: Annotated[str, Field(min_length=1, max_length=200)]


class Items(BaseModel, Generic[T]):
    items: list[T]
    next_cursor: str | None = None

    @classmethod
    def of(cls, page: Page[R], resource: Callable[[R], T]) -> "Items[T]":
        return cls(items=[resource(record) for record in page.items], next_cursor=page.next_cursor)


_MEANINGS = {
    400: "the request cannot be read",
    401: "no valid key",
    403: "the key lacks the scope",
    404: "not found",
    409: "not possible in the present state",
    412: "changed since it was last seen",
    413: "too large",
    415: "unsupported kind of file or body",
    422: "invalid value",
    429: "too many requests",
    500: "unexpected error",
    503: "busy, or a part of the service is unavailable",
    507: "no space left",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of refusals; those that the gate makes are common to all routes."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": _MEANINGS[status], "content": content} for status in sorted({*statuses})}


ALWAYS = problems(401, 403, 429, 500, 503)
