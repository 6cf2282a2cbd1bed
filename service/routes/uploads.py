"""Multipart forms: files stream to disk while they arrive, and are gone when the request ends."""

import errno
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from anyio import CapacityLimiter
from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException

from core.errors import StoreError
from service.problems import ProblemError, wrong_field

_FIELD_BYTES = 2**20
_ABANDONED_SECONDS = 3600.0
UPLOADS = CapacityLimiter(2)
"""uploads that are read at the same time: they must not take the threads that everybody else needs"""


@asynccontextmanager
async def form_of(request: Request) -> AsyncIterator[FormData]:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise ProblemError(415, "Send a multipart form, as 'curl -F file=@data.csv' does.")
    try:
        with _room():
            form = await request.form(max_files=4, max_fields=16, max_part_size=_FIELD_BYTES)
    except MultiPartException as error:
        raise ProblemError(400, f"The form cannot be read: {error.message}") from None
    try:
        yield form
    finally:
        await form.close()


def file_field(form: FormData, name: str, *, required: bool = True) -> UploadFile | None:
    value = form.get(name)
    if isinstance(value, UploadFile):
        return value
    if value is not None:
        raise wrong_field(name, f"{name} must be a file.")
    if required:
        raise wrong_field(name, f"The form lacks the file {name}.")
    return None


def text_field(form: FormData, name: str, default: str = "", longest: int = 200) -> str:
    value = form.get(name, default)
    if not isinstance(value, str):
        raise wrong_field(name, f"{name} must be text.")
    if len(value) > longest or any(ord(letter) < 32 or 0xD800 <= ord(letter) <= 0xDFFF for letter in value):
        raise wrong_field(name, f"{name} must have at most {longest} characters, and none that cannot be printed.")
    return value


@contextmanager
def on_disk(upload: UploadFile | None, folder: Path) -> Iterator[Path | None]:
    """The upload as a file with a path, for as long as the block lasts."""
    if upload is None:
        yield None
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix="upload-") as copy:
        with _room():
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
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreError("There is no room left for the upload: make some, then try again.") from None
        raise
