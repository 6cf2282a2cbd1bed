"""No body is read further than its route allows, nor while too much is being read already.

Too long by its header or on the way, it is refused with 413. Its bytes are reserved before they are read and released
when the request ends, however it ends; what does not fit is refused with 503. Bodies that are kept in memory and forms
that stream to disk have a budget each, of which one tenant gets half.
"""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from certiset.service.http.access.requirements import AccessTable
from certiset.service.http.json_bodies import LARGEST_JSON, TOO_LONG
from certiset.service.http.problems import problem_response
from certiset.service.http.state import Service
from certiset.service.shares import Shares

_BUSY = "Too many bytes of yours are being read already: try again in a moment."
_TRY_AGAIN = {"Retry-After": "1", "Connection": "close"}


class BodyLimit:
    def __init__(self, app: ASGIApp, access: AccessTable) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        service: Service = scope["app"].state.service
        needed = self._access.of(scope["method"], scope["path"])
        limit = needed.largest_body(service.settings)
        detail = f"The body is too large: at most {limit:,} bytes are accepted here."
        if limit > LARGEST_JSON and _is_json(scope):
            limit, detail = LARGEST_JSON, TOO_LONG
        declared = declared_length(scope)
        if declared > limit:
            await problem_response(413, detail, headers={"Connection": "close"})(scope, receive, send)
            return
        caller = scope["state"].get("caller")
        room = _Room(service.uploading if needed.to_disk else service.reading, caller.tenant if caller else "")
        if not room.reserve(declared):
            await problem_response(503, _BUSY, headers=_TRY_AGAIN)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, detail, {"Connection": "close"})
            if not room.reserve(seen):
                raise HTTPException(503, _BUSY, _TRY_AGAIN)
            return message

        try:
            await self._app(scope, counted, send)
        finally:
            room.leave()


class _Room:
    """What one request has reserved."""

    def __init__(self, shares: Shares, tenant: str) -> None:
        self._shares, self._tenant = shares, tenant
        self._size = self._counted = 0

    def reserve(self, size: int) -> bool:
        """Room for so many bytes altogether."""
        if size <= self._size:
            return True
        counted = self._shares.take(self._tenant, size - self._size)
        if counted is None:
            return False
        self._size, self._counted = size, self._counted + counted
        return True

    def leave(self) -> None:
        if self._counted:
            self._shares.give_back(self._tenant, self._counted)


def declared_length(scope: Scope) -> int:
    """What the header says; 0 if it says nothing."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def _is_json(scope: Scope) -> bool:
    """Whether the whole body is JSON, and not only the head in front of binary tensors."""
    headers = dict(scope["headers"])
    kind = headers.get(b"content-type", b"application/json").partition(b";")[0].strip().lower()
    return kind == b"application/json" and b"inference-header-content-length" not in headers
