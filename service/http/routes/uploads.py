"""Multipart forms: files stream to disk while they arrive, and are gone when the request ends."""

import errno
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Request, Response
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException

from certiset.core.errors import OptionError, StoreFullError
from certiset.service.http.problems import ProblemError

_FIELD_BYTES = 2**20
_ABANDONED_SECONDS = 3600.0

T = TypeVar("T", bound="_Named")


class _Named(Protocol):
    @property
    def id(self) -> str: ...


async def answer_upload(
    response: Response, slots: CapacityLimiter, folder: str, add: Callable[[], tuple[T, bool]]
) -> T:
    """What ``add`` stores or finds, and says whether it is new, as the answer to an upload to ``folder``.

    ``slots`` are the tenant's: uploads must not take the threads that everybody else needs.
    """
    resource, new = await run_sync(add, limiter=slots)
    response.status_code = 201 if new else 200
    response.headers["Location"] = f"/{folder}/{resource.id}"
    return resource


@asynccontextmanager
async def form_of(request: Request) -> AsyncIterator[FormData]:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise ProblemError(415, "Send a multipart form, as 'curl -F file=@data.csv' does.")
    try:
        with _space():
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


@contextmanager
def on_disk(upload: UploadFile, folder: Path) -> Iterator[Path]:
    """The upload as a file with a path, for as long as the block lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix="upload-") as copy:
        with _space():
            upload.file.seek(0)
            shutil.copyfileobj(upload.file, copy, 2**20)
            copy.flush()
        yield Path(copy.name)


def remove_abandoned(folder: Path) -> None:
    """What an API process left that was killed in the middle of an upload."""
    for file in folder.glob("upload-*"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _ABANDONED_SECONDS:
                file.unlink()


@contextmanager
def _space() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreFullError("The disk has no space left for the upload: free some, then try again.") from None
        raise
