"""The gate in front of every route: it opens, or refuses, before a byte of the body is read."""

import math

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from certiset.core.errors import CertisetError
from certiset.service.http.access.keys import Caller
from certiset.service.http.access.requirements import AccessTable, Requirements
from certiset.service.http.problems import problem_of, problem_response
from certiset.service.http.state import Service

_NO_KEY = "An API key is needed: send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'."
_WRONG_KEY = "This API key is unknown, or was revoked."


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
            if key is None:
                refusal: Response | None = _unauthorized(_NO_KEY)
            else:
                try:
                    # Kept before anything is refused, since the log names who was.
                    caller = scope["state"]["caller"] = await _caller(service, key, scope)
                    refusal = _refusal(service, caller, needed, scope)
                except CertisetError as error:
                    refusal = problem_of(error)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _caller(service: Service, key: str, scope: Scope) -> Caller | None:
    digest = service.keys.digest(key)
    known, caller = service.keys.remembered(digest)
    if known:
        return caller
    return await service.look_ups.caller(digest, suspect=service.wrong_keys.is_suspect(_address(scope)))


def _refusal(service: Service, caller: Caller | None, needed: Requirements, scope: Scope) -> Response | None:
    if caller is None:
        wait = service.wrong_keys.wait(_address(scope))
        return _too_many("Too many wrong API keys", wait) if wait > 0 else _unauthorized(_WRONG_KEY)
    if not (needed.scope is None or caller.may(needed.scope) or (needed.or_scope and caller.may(needed.or_scope))):
        return problem_response(403, f"This key lacks the scope '{needed.scope}'.")
    wait = service.limit.wait(caller.key_id)
    return _too_many("Too many requests", wait) if wait > 0 else None


def _unauthorized(detail: str) -> Response:
    return problem_response(401, detail, headers={"WWW-Authenticate": "Bearer"})


def _too_many(what: str, wait: float) -> Response:
    seconds = str(math.ceil(wait))
    return problem_response(429, f"{what}: try again in {seconds} s.", headers={"Retry-After": seconds})


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _key(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"authorization":
            kind, _, key = value.decode("latin-1").partition(" ")
            if kind.lower() == "bearer" and key.strip():
                return str(key.strip())
        elif name == b"x-api-key" and value:
            return str(value.decode("latin-1"))
    return None
