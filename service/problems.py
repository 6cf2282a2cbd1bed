"""Errors as RFC 9457 problems: a status, a title, a sentence, and where it helps the fields that are wrong."""

import json
import logging
import re
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from core.bounds import BoundsError
from core.errors import (
    CertisetError,
    DamagedFileError,
    DataError,
    FileKindError,
    ModelError,
    NotFoundError,
    OptionError,
    StoreError,
    first_line,
)
from core.store.errors import TRANSIENT

_MOST_ERRORS = 20
MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)


class ProblemError(Exception):
    """An error that knows its status."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: list[dict[str, str]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors, self.headers = status, detail, errors, headers


def problem_body(status: int, detail: str, errors: list[dict[str, str]] | None = None) -> bytes:
    title = HTTPStatus(status).phrase
    body: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    if errors:
        body["errors"] = errors
    return json.dumps(body).encode()


def problem_response(
    status: int,
    detail: str,
    errors: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    return Response(problem_body(status, detail, errors), status, headers, MEDIA_TYPE)


def wrong_field(where: str, message: str) -> ProblemError:
    return ProblemError(422, message, errors=[{"where": where, "message": message}])


_STATUS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], int], ...] = (
    (NotFoundError, 404),
    (FileKindError, 415),
    ((DataError, OptionError, ModelError, BoundsError), 422),
    (DamagedFileError, 500),
    (StoreError, 507),
    (TRANSIENT, 503),
)


def add_handlers(app: FastAPI) -> None:
    app.add_exception_handler(ProblemError, _problem)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    for kind in (CertisetError, BoundsError, *TRANSIENT):
        app.add_exception_handler(kind, _known)


def status_of(error: Exception) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return problem_response(error.status, error.detail, error.errors, error.headers)


async def _known(request: Request, error: Exception) -> Response:
    status = status_of(error)
    if status == 503:
        _log.warning("the database does not answer: %s", first_line(error))
        return problem_response(503, "The database does not answer: try again in a moment.", None, {"Retry-After": "2"})
    if status >= 500:
        _log.error("%s", error)
    return problem_response(status, str(error))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [
        {"where": ".".join(str(part) for part in found["loc"][1:]) or str(found["loc"][0]), "message": found["msg"]}
        for found in error.errors()[:_MOST_ERRORS]
    ]
    first = errors[0]
    return problem_response(422, f"{first['where']}: {first['message']}.", errors)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers) if error.headers else {}
    detail = {404: f"There is nothing at {request.url.path}.", 405: f"{request.method} is not possible here."}
    if error.status_code == 405:
        headers = {"Allow": ", ".join(_allowed(request)) or headers.get("Allow", headers.get("allow", ""))}
    return problem_response(error.status_code, detail.get(error.status_code, str(error.detail)), headers=headers)


def _allowed(request: Request) -> list[str]:
    """The methods of all routes at that path; a router by itself knows only those of the first."""
    found: set[str] = set()
    for template, operations in request.app.openapi()["paths"].items():
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
        if re.fullmatch(pattern, request.url.path):
            found |= {method.upper() for method in operations}
    return sorted(found)
