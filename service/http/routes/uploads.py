"""Multipart forms: files stream to disk while they arrive, and are gone when the request ends."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from anyio.to_thread import run_sync
from fastapi import Request, Response
from pydantic import BaseModel
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException

from certiset.core.errors import OptionError
from certiset.core.scratch import full_disk_refused, scratch_file
from certiset.service.http.problems import ProblemError
from certiset.service.http.schemas.common import problems
from certiset.service.http.state import Service

_FIELD_BYTES = 2**20
_PIECE = 2**20

T = TypeVar("T", bound="_Named")


class _Named(Protocol):
    @property
    def id(self) -> str: ...


def upload_route(resource: type[BaseModel], again: str, fields: Mapping[str, Any], required: str) -> dict[str, Any]:
    """What OpenAPI says of a route that takes a form with these fields and answers with the resource.

    ``again`` says when that is one that was there before.
    """
    form = {"type": "object", "required": [required], "properties": dict(fields)}
    return {
        "status_code": 201,
        "response_model": resource,
        "responses": {**problems(400, 413, 415, 422, 507), 200: {"model": resource, "description": again}},
        "openapi_extra": {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": form}}}},
    }


async def answer_upload(
    response: Response, service: Service, tenant: str, folder: str, add: Callable[[], tuple[T, bool]]
) -> T:
    """What ``add`` stores or finds, and says whether it is new, as the answer to an upload to ``folder``.

    Each tenant has slots of its own: uploads must not take the threads that everybody else needs.
    """
    with service.metrics.counting_deaths("upload"):
        resource, new = await run_sync(add, limiter=service.upload_slots.of(tenant))
    response.status_code = 201 if new else 200
    response.headers["Location"] = f"/{folder}/{resource.id}"
    return resource


@asynccontextmanager
async def form_of(request: Request) -> AsyncIterator[FormData]:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise ProblemError(415, "Send a multipart form, as 'curl -F file=@data.csv' does.")
    try:
        with full_disk_refused():
            form = await request.form(max_files=4, max_fields=16, max_part_size=_FIELD_BYTES)
    except MultiPartException as error:
        raise ProblemError(400, f"The form cannot be read: {error.message}") from None
    try:
        yield form
    finally:
        await form.close()


def required_file(form: FormData, name: str) -> UploadFile:
    found = optional_file(form, name)
    if found is None:
        raise OptionError(f"The form lacks the file {name}.", field=name)
    return found


def optional_file(form: FormData, name: str) -> UploadFile | None:
    value = form.get(name)
    if value is not None and not isinstance(value, UploadFile):
        raise OptionError(f"{name} must be a file.", field=name)
    return value


def text_field(form: FormData, name: str, default: str = "", longest: int = 200) -> str:
    value = form.get(name, default)
    if not isinstance(value, str):
        raise OptionError(f"{name} must be text.", field=name)
    if len(value) > longest or any(ord(letter) < 32 or 0xD800 <= ord(letter) <= 0xDFFF for letter in value):
        raise OptionError(f"{name} must have at most {longest} characters, all of them printable.", field=name)
    return value


def on_disk(upload: UploadFile, folder: Path) -> AbstractContextManager[Path]:
    """The upload as a file with a path, for as long as the block lasts."""
    upload.file.seek(0)
    return scratch_file(folder, iter(lambda: upload.file.read(_PIECE), b""))
