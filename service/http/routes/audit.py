"""The audit log, in pages or as JSON lines."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BeforeValidator
from starlette.responses import StreamingResponse

from certiset.core.jobs.views import audit_entry
from certiset.core.resources import AuditEntry
from certiset.core.store import Store
from certiset.core.store.audit import AuditFilter
from certiset.core.store.identifiers import REFERENCE_PATTERN
from certiset.service.http.access.requirements import requires
from certiset.service.http.problems import ProblemError
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Cursor, Items, problems

router = APIRouter(tags=["audit"], responses=ALWAYS)

JSON_LINES = "application/x-ndjson"
_PAGE = 50
_PIECE = 500
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

Action = Annotated[str | None, Query(pattern=r"^[a-z_.]{1,64}$", description="such as dataset.delete")]
KeyId = Annotated[str | None, Query(pattern=r"^[a-z]{2,12}-[0-9a-z]{1,51}$", description="the id of a key")]
Tenant = Annotated[str | None, Query(pattern=r"^[A-Za-z0-9._-]{1,64}$", description="for operators")]


def _written_out(given: Any) -> Any:
    """Pydantic also takes numbers for times, which the OpenAPI document does not promise."""
    if isinstance(given, str) and not _TIME.fullmatch(given):
        raise ValueError("must be a time with its zone, such as 2026-01-31T00:00:00Z")
    return given


Instant: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_written_out)]
Since = Annotated[Instant | None, Query(description="at that time or later, such as 2026-01-31T00:00:00Z")]
Until = Annotated[Instant | None, Query(description="before that time")]
Format = Annotated[
    Literal["json", "jsonl"] | None, Query(description=f"jsonl, or `Accept: {JSON_LINES}`: all entries, one per line")
]
Limit = Annotated[int | None, Query(ge=1, le=200, description=f"maximum number of items (default {_PAGE})")]


@router.get(
    "/audit",
    response_model=Items[AuditEntry],
    responses={
        **problems(422),
        200: {"description": "newest first", "content": {JSON_LINES: {"schema": {"type": "string"}}}},
    },
)
@requires("admin", or_scope="operator", action="audit.read")
def list_audit(
    request: Request,
    service: TheService,
    caller: TheCaller,
    action: Action = None,
    object: Annotated[str | None, Query(pattern=REFERENCE_PATTERN)] = None,
    key: KeyId = None,
    tenant: Tenant = None,
    since: Since = None,
    until: Until = None,
    format: Format = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Any:
    """Who changed what, and what was refused: of the key's tenant, or, for an operator, of all."""
    if not caller.may("operator"):
        if tenant not in (None, caller.tenant):
            raise ProblemError(403, "Only a key with the scope 'operator' sees other tenants.")
        tenant = caller.tenant
    wanted = AuditFilter(
        tenant=tenant,
        action=action,
        object_id=object,
        key_id=key,
        since=None if since is None else since.timestamp(),
        until=None if until is None else until.timestamp(),
    )
    if format == "jsonl" or (format is None and _wants_lines(request)):
        return StreamingResponse(_lines(service.store, wanted, limit, cursor), media_type=JSON_LINES)
    with service.store.reading() as work:
        page = work.audit.list(wanted, limit=limit or _PAGE, cursor=cursor)
    return Items.of(page, audit_entry)


def _lines(store: Store, wanted: AuditFilter, limit: int | None, cursor: str | None) -> Iterator[bytes]:
    """A page at a time, each in a transaction of its own: a slow reader holds none open."""
    while True:
        with store.reading() as work:
            page = work.audit.list(wanted, limit=limit or _PIECE, cursor=cursor)
        yield b"".join(audit_entry(record).model_dump_json().encode() + b"\n" for record in page.items)
        cursor = page.next_cursor
        if cursor is None or limit is not None:
            return


def _wants_lines(request: Request) -> bool:
    accepted = [part.partition(";")[0].strip() for part in request.headers.get("accept", "").lower().split(",")]
    return JSON_LINES in accepted and "application/json" not in accepted
