"""What all schemas share: ids, names, pages, problems."""

from typing import Annotated, Any, Generic, TypeVar

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

ID_PATTERN = r"^[a-z]{2,6}-[0-9a-z]{1,57}$"
NAME_PATTERN = r"^[^\x00-\x1f\x7f]*$"

Id = Annotated[str, Field(pattern=ID_PATTERN, examples=["cal-01jd3v8k2mexample"])]
PathId = Annotated[str, Path(pattern=ID_PATTERN)]
QueryId = Annotated[str | None, Query(pattern=ID_PATTERN)]
Name = Annotated[str, Field(max_length=200, pattern=NAME_PATTERN)]
Limit = Annotated[int, Query(ge=1, le=200, description="at most so many items")]
Cursor = Annotated[str | None, Query(pattern=ID_PATTERN, description="next_cursor of the page before")]

T = TypeVar("T")


class Strict(BaseModel):
    """A request: a field that nobody knows is an error."""

    model_config = ConfigDict(extra="forbid")


class Items(BaseModel, Generic[T]):
    items: list[T]
    next_cursor: str | None = None


class FieldProblem(BaseModel):
    where: str
    message: str


class Problem(BaseModel):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] | None = None


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of refusals; those that the gate makes are common to all routes."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    known = {
        400: "not a request that can be read",
        401: "no valid key",
        403: "the key lacks the scope",
        404: "not there, or somebody else's",
        409: "not possible in this state",
        413: "too large",
        415: "of a kind that is not read here",
        422: "a value that does not do",
        429: "too many requests",
        500: "broken here",
        503: "busy, or the database is away",
        507: "no room left",
    }
    return {status: {"description": known[status], "content": content} for status in sorted({*statuses})}


ALWAYS = problems(401, 403, 429, 500, 503)
