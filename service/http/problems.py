"""Errors as RFC 9457 problems: a status, a stable code, a sentence, and where it helps the fields that are wrong.

`STATUS` is the one table from errors to statuses; a class that it does not name has the status of its base.
"""

import json
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from certiset.core.bounds import BoundsError
from certiset.core.errors import (
    CertisetError,
    ConflictError,
    DamagedFileError,
    DataError,
    FieldError,
    FileKindError,
    LargerThanQuotaError,
    ModelError,
    NotFoundError,
    OptionError,
    QuotaExceededError,
    StoreFullError,
    TooLargeError,
    UnavailableError,
    VersionError,
)
from certiset.core.sandbox import SandboxError
from certiset.service.http.request_errors import request_error

MEDIA_TYPE = "application/problem+json"
_RETRY_SECONDS = 2
_log = logging.getLogger(__name__)

STATUS: dict[type[CertisetError], int] = {
    BoundsError: 422,
    ConflictError: 409,
    DamagedFileError: 500,
    DataError: 422,
    FileKindError: 415,
    LargerThanQuotaError: 413,
    ModelError: 422,
    NotFoundError: 404,
    OptionError: 422,
    QuotaExceededError: 429,
    # The same bytes would end the next process as well, so that nobody is told to try again.
    SandboxError: 422,
    StoreFullError: 507,
    TooLargeError: 413,
    UnavailableError: 503,
    VersionError: 412,
    # Whatever else is raised was not meant for the caller.
    CertisetError: 500,
}

_CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid_option",
    429: "rate_limited",
    503: "busy",
}
"""of the errors of HTTP itself"""
INTERNAL = "internal"
PROBLEM = "problem"
"""where the code of an answered problem is kept in the request's state"""
REFUSED = "refused"
"""where the status is kept with which a connection was closed before its request was answered"""


class ProblemError(Exception):
    """An error of HTTP itself, such as a body that is too large."""

    def __init__(self, status: int, detail: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


class ProblemResponse(Response):
    """Leaves its code in the request's state, where log and metrics find it."""

    def __init__(self, body: dict[str, Any], headers: dict[str, str] | None) -> None:
        super().__init__(json.dumps(body), body["status"], headers, MEDIA_TYPE)
        self._code = body["code"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})[PROBLEM] = self._code
        await super().__call__(scope, receive, send)


def problem_response(
    status: int,
    detail: str,
    *,
    code: str | None = None,
    errors: Sequence[FieldError] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code or code_of(status),
    }
    if errors:
        body["errors"] = [{"where": error.field, "message": error.message} for error in errors]
    return ProblemResponse(body, headers)


def code_of(status: int) -> str:
    """Of an error of HTTP itself."""
    return _CODES.get(status, _CODES[400] if status < 500 else INTERNAL)


def status_of(kind: type[CertisetError]) -> int:
    return next(STATUS[base] for base in kind.__mro__ if base in STATUS)


def codes() -> dict[str, int]:
    """Every code that a problem may have, with its status."""
    found = {code: status for status, code in _CODES.items()} | {INTERNAL: 500}
    waiting: list[type[CertisetError]] = [CertisetError]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        status = status_of(kind)
        if status != 500 or issubclass(kind, DamagedFileError):
            found[kind.code] = status
    return found


def add_handlers(app: FastAPI) -> None:
    app.add_exception_handler(ProblemError, _problem)
    app.add_exception_handler(CertisetError, _certiset)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return problem_response(error.status, error.detail, headers=error.headers)


async def _certiset(request: Request, error: Exception) -> Response:
    assert isinstance(error, CertisetError)
    return problem_of(error)


def problem_of(error: CertisetError) -> Response:
    """The error as a problem; one that was not meant for the caller is raised again."""
    status, detail, headers = status_of(type(error)), str(error), None
    if status in (503, 507):
        headers = {"Retry-After": str(getattr(error, "retry_seconds", _RETRY_SECONDS))}
    if isinstance(error, SandboxError):
        detail = f"What was sent cannot be processed: the process that read it {error}."
    elif status == 503:
        _log.warning("%s", error.__cause__ or error)
    elif isinstance(error, DamagedFileError | StoreFullError):
        _log.error("%s", error)
    elif status == 500:
        # Logged with its traceback, and told to the caller without a word of it.
        raise error
    return problem_response(status, detail, code=error.code, errors=_fields(error), headers=headers)


def _fields(error: CertisetError) -> Sequence[FieldError]:
    found: Sequence[FieldError] = getattr(error, "errors", ())
    return found or ([FieldError(error.field, str(error))] if error.field else ())


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return await _certiset(request, request_error(error.errors(), request.scope.get("route")))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status, headers = error.status_code, dict(error.headers) if error.headers else {}
    detail = {404: f"{request.url.path} was not found.", 405: f"Method {request.method} is not allowed here."}
    if status == 405:
        # A router by itself knows only the methods of the first route at a path.
        headers = {"Allow": ", ".join(request.app.state.access.methods(request.url.path))}
    return problem_response(status, detail.get(status, str(error.detail)), headers=headers)
