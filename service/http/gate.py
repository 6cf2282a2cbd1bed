"""The gate in front of every route: it opens, or refuses, before a byte of the body is read."""

import math

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from certiset.service.http.access.keys import Caller
from certiset.service.http.access.requirements import AccessTable, Requirements
from certiset.service.http.problems import problem_response
from certiset.service.http.state import Service

_LOOK_UPS = CapacityLimiter(4)
"""keys that are looked up at the same time, on threads that no other work can take"""


class Gate:
    def __init__(self, app: ASGIApp, access: AccessTable) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        needed = self._access.of(scope["method"], scope["path"])
        if needed.scope is not None:
            service: Service = scope["app"].state.service
            key = _key(scope)
            caller = None if key is None else await self._caller(service, key)
            # Before anything is refused, since the log names who was.
            scope["state"]["caller"] = caller
            refusal = _refusal(service, caller, needed, given=key is not None)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _caller(self, service: Service, key: str) -> Caller | None:
        digest = service.keys.digest(key)
        known, caller = service.keys.remembered(digest)
        return caller if known else await run_sync(service.keys.look_up, digest, limiter=_LOOK_UPS)


def _refusal(service: Service, caller: Caller | None, needed: Requirements, *, given: bool) -> Response | None:
    if caller is None:
        detail = "An API key is needed: send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'."
        if given:
            detail = "This API key is unknown, or was revoked."
        return problem_response(401, detail, headers={"WWW-Authenticate": "Bearer"})
    if not (needed.scope is None or caller.may(needed.scope) or (needed.or_scope and caller.may(needed.or_scope))):
        return problem_response(403, f"This key lacks the scope '{needed.scope}'.")
    wait = service.limit.wait(caller.key_id)
    if wait > 0:
        seconds = str(math.ceil(wait))
        return problem_response(429, f"Too many requests: try again in {seconds} s.", headers={"Retry-After": seconds})
    return None


def _key(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"authorization":
            kind, _, key = value.decode("latin-1").partition(" ")
            if kind.lower() == "bearer" and key.strip():
                return str(key.strip())
        elif name == b"x-api-key" and value:
            return str(value.decode("latin-1"))
    return None
