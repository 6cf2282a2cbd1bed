"""One line per request, with its id and time, and without its query, its body or its key."""

import json
import logging
import random
import re
import sys
import time
from contextvars import ContextVar

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from certiset.core.store.identifiers import ID_PATTERN
from certiset.service.http.access.actors import actor_of
from certiset.service.http.access.keys import Caller
from certiset.service.http.access.requirements import AccessTable
from certiset.service.http.problems import INTERNAL, PROBLEM, REFUSED, problem_response
from certiset.service.http.state import Service

_log = logging.getLogger("certiset.requests")
_GOOD_ID = re.compile(rb"(?!cs_)[A-Za-z0-9._-]{1,64}")
"""and not a key that came in the wrong header"""
_GOOD_OBJECT = re.compile(ID_PATTERN)
_ALWAYS_AUDITED = (401, 403, 413, 429)
_GONE = 499
"""in log and metrics alone: the caller went away before her request was complete"""
request_id: ContextVar[str] = ContextVar("request_id", default="-")


def _new_id() -> str:
    """It tells requests apart and guards nothing, so that no request has to wait for the system's randomness."""
    return f"{random.getrandbits(64):016x}"


class RequestLog:
    """Gives every request an id, or keeps the one it came with; counts, times and logs it."""

    def __init__(self, app: ASGIApp, access: AccessTable) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        id = given.decode() if _GOOD_ID.fullmatch(given) else _new_id()
        token = request_id.set(id)
        begin, status, begun = time.perf_counter(), 500, False

        async def answered(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], True
                message["headers"] = [*message["headers"], (b"x-request-id", id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, answered)
        except ClientDisconnect:
            # There is nobody to answer any more, and nothing unexpected to look into.
            status = _GONE
        except Exception:
            # Here and not farther out, where the request's id is no longer known.
            _log.exception("unexpected error")
            if not begun:
                await unexpected_problem()(scope, receive, answered)
        finally:
            # A connection that was closed for being too slow has told its caller so by itself.
            self._record(scope, scope["state"].get(REFUSED, status), time.perf_counter() - begin)
            request_id.reset(token)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        service: Service = scope["app"].state.service
        caller: Caller | None = scope["state"].get("caller")
        if status >= 400 and status != _GONE:
            self._refused(service, scope, caller, status)
        route = scope["path"]
        if not self._access.is_fixed(route):
            # A path that nobody serves, or that holds an id, must not become a label.
            route = getattr(scope.get("route"), "path", "other")
        service.metrics.count(scope["method"], route, status, seconds)
        if _log.isEnabledFor(logging.INFO):
            fields: dict[str, object] = {
                "method": scope["method"],
                "route": route,
                "status": status,
                "ms": round(1000 * seconds, 2),
            }
            if caller is not None:
                fields["key_id"], fields["tenant"] = caller.key_id, caller.tenant
            _log.info("request", extra={"fields": fields})

    def _refused(self, service: Service, scope: Scope, caller: Caller | None, status: int) -> None:
        """Counts what a key, a scope or a limit has stopped, and changes that were not made, for the audit log."""
        needed = self._access.of(scope["method"], scope["path"])
        if needed.scope is None:
            return
        code = scope["state"].get(PROBLEM, INTERNAL)
        service.metrics.refused(code)
        if status in _ALWAYS_AUDITED or (needed.changes and scope["method"] not in ("GET", "HEAD")):
            id = self._access.id_in(scope["path"])
            service.refusals.count(
                action=needed.action or needed.scope,
                actor=actor_of(scope, caller),
                tenant=None if caller is None else caller.tenant,
                status=status,
                code=code,
                object_id=id if id is not None and _GOOD_OBJECT.fullmatch(id) else None,
            )


def unexpected_problem() -> Response:
    """For an error that was logged and says nothing to the caller, but for where to look."""
    return problem_response(500, f"Unexpected error; see the log for request id {request_id.get()}.")


class JsonLines(logging.Formatter):
    """Logs as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_as_json(level: str | int = "INFO") -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel("WARNING")
