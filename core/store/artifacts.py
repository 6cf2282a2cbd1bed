"""Files named by the SHA-256 of their content, in a folder or any store that fsspec knows.

A file is written under a temporary name and renamed, so that a name stands for the whole content or for nothing; what
is read back is hashed again, so that a damaged file is an error and never a wrong set. Content that already exists is
rewritten, which repairs a damaged file and tells the garbage collector that it is still needed.

A file system's errors are raised as errors of certiset: `StoreFullError`, `ArtifactsUnavailableError`, or
`DamagedFileError` for the one file that is missing or not what was written.
"""

import contextlib
import errno
import hashlib
import io
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import fsspec
from fsspec.asyn import AsyncFileSystem
from fsspec.exceptions import FSTimeoutError
from fsspec.implementations.local import LocalFileSystem

from certiset.core.errors import (
    ArtifactsReadOnlyError,
    ArtifactsUnavailableError,
    CertisetError,
    DamagedFileError,
    SettingsError,
    StoreFullError,
)
from certiset.core.store.breaker import Breaker

_SECONDS = 10.0
_LEAST_PACE = 2**20
"""bytes a second that a remote store must manage"""
_PIECE = 2**20
_LARGE_PIECE = 2**24
_NAME = re.compile(r"[0-9a-f]{64}")
_OURS = re.compile(r"tmp/[0-9a-f]{32}|([0-9a-f]{2})/\1[0-9a-f]{62}")
_READ_ONLY = {errno.EROFS}
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True)
class StoredFile:
    path: str
    sha256: str | None
    """None for a temporary file"""
    modified: float


def local_folder(url: str) -> Path | None:
    """The folder that an artifacts URL stands for; None if the store is elsewhere."""
    file_system, root = fsspec.core.url_to_fs(url)
    return Path(root) if isinstance(file_system, LocalFileSystem) else None


class Artifacts:
    def __init__(self, url: str, seconds: float = _SECONDS) -> None:
        try:
            self._fs, self._root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise SettingsError(f"the artifacts URL cannot be used: {error}.") from None
        self._is_local = isinstance(self._fs, LocalFileSystem)
        self._is_remote, self._seconds, self._breaker = isinstance(self._fs, AsyncFileSystem), seconds, Breaker()
        # A remote store's library raises its own errors when the server is unavailable.
        self._failures: type[Exception] = OSError if self._is_local else Exception

    def put(self, content: bytes | Path) -> str:
        """Stores the content, bytes or a file's, and returns its name."""
        name = _digest(content)
        temporary, final = f"{self._root}/tmp/{uuid.uuid4().hex}", self._path(name)
        try:
            with self._translated_errors("The artifact store cannot be written"):
                if self._is_local:
                    _write_local(Path(temporary), Path(final), content)
                else:
                    size = content.stat().st_size if isinstance(content, Path) else len(content)
                    if isinstance(content, Path):
                        self._fs.put_file(str(content), temporary, **self._within(size))
                    else:
                        self._fs.pipe_file(temporary, content, **self._within(size))
                    self._fs.cp_file(temporary, final, **self._within(size))
                    self._fs.rm_file(temporary, **self._within())
        except BaseException:
            self._remove_quietly(temporary)
            raise
        return name

    def get(self, name: str) -> bytes:
        """The content of that name, checked."""
        content = self._read(name)
        found = hashlib.sha256(content).hexdigest()
        if found != name:
            raise _damaged(name, len(content), found)
        return content

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of that name, a piece at a time; if it is not what was written, the end is an error."""
        with self._translated_errors("The artifact store cannot be read"):
            try:
                size = self._fs.info(self._path(name), **self._within())["size"]
            except FileNotFoundError:
                raise _missing(name) from None
        digest = hashlib.sha256()
        for first in range(0, size, _LARGE_PIECE):
            piece = self._read(name, first, min(first + _LARGE_PIECE, size))
            digest.update(piece)
            yield piece
        if digest.hexdigest() != name:
            raise _damaged(name, size, digest.hexdigest())

    def local_file(self, name: str) -> Path | None:
        """Where the checked content of that name lies; None if the store is elsewhere."""
        if not self._is_local:
            return None
        for _ in self.pieces(name):
            pass
        return Path(self._path(name))

    def part(self, name: str, first: int, last: int) -> bytes:
        """The bytes from ``first`` to before ``last``, unchecked: a hash needs the whole file."""
        return self._read(name, first, last)

    def checked_pieces(self, name: str) -> tuple[int, Iterator[bytes]]:
        """How many bytes that name's checked content has, and all of them, piece by piece, read as they are taken."""
        if not self.intact(name):
            # Says which: missing, or damaged.
            self.get(name)
        with self._translated_errors("The artifact store cannot be read"):
            size: int = self._fs.info(self._path(name), **self._within())["size"]
        return size, self.pieces(name)

    def exists(self, name: str) -> bool:
        with self._translated_errors("The artifact store cannot be read"):
            return bool(self._fs.exists(self._path(name), **self._within()))

    def files(self) -> Iterator[StoredFile]:
        """The store's files, including temporary ones. Any other files below the root are ignored."""
        with self._translated_errors("The artifact store cannot be read"):
            self._fs.invalidate_cache()
            found = self._fs.find(self._root, detail=True)
        for path, entry in found.items():
            inner = path.removeprefix(self._root).lstrip("/")
            if _OURS.fullmatch(inner):
                temporary = inner.startswith("tmp/")
                yield StoredFile(path, None if temporary else inner.split("/")[1], _modified(entry))

    def file(self, name: str) -> StoredFile:
        """Where that name's file is, or would be."""
        return StoredFile(self._path(name), name, 0.0)

    def discard(self, file: StoredFile, older_than: float) -> bool:
        """Removes a file that no record refers to, unless it was rewritten after it was listed."""
        with self._translated_errors("The artifact store cannot be written"):
            try:
                self._fs.invalidate_cache()
                if _modified(self._fs.info(file.path)) > time.time() - older_than:
                    return False
                self._fs.rm_file(file.path)
            except FileNotFoundError:
                return False
            return True

    def intact(self, name: str) -> bool:
        """Whether the file exists and is what was written; read in pieces, however large it is."""
        try:
            for _ in self.pieces(name):
                pass
        except DamagedFileError:
            return False
        return True

    def ping(self) -> None:
        """Raises unless files can be written and read back."""
        probe = f"{self._root}/tmp/{uuid.uuid4().hex}"
        try:
            with self._translated_errors("The artifact store cannot be written"):
                if self._is_local:
                    Path(probe).parent.mkdir(parents=True, exist_ok=True)
                self._fs.pipe_file(probe, b"ping", **self._within())
        finally:
            self._remove_quietly(probe)

    def _read(self, name: str, first: int | None = None, last: int | None = None) -> bytes:
        # Callers of the API read these messages, and learn the name of a file, but not where it lies.
        path = self._path(name)
        with self._translated_errors(f"The stored file {name} cannot be read"):
            try:
                size = 0
                if self._is_remote:
                    size = self._fs.info(path, **self._within())["size"] if last is None else last - (first or 0)
                content: bytes = self._fs.cat_file(path, start=first, end=last, **self._within(size))
            except FileNotFoundError:
                raise _missing(name) from None
            return content

    def _path(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise DamagedFileError(f"{name!r} is not the name of a stored file.")
        return f"{self._root}/{name[:2]}/{name}"

    def _remove_quietly(self, path: str) -> None:
        if self._breaker.is_open:
            # It would only take the same time again; the garbage collector finds the file later.
            return
        with contextlib.suppress(self._failures):
            self._fs.rm_file(path, **self._within())

    def _within(self, size: int = 0) -> dict[str, float]:
        """The time limit of a call that moves so many bytes; a folder's calls have none."""
        return {"timeout": self._seconds + size / _LEAST_PACE} if self._is_remote else {}

    @contextlib.contextmanager
    def _translated_errors(self, failure: str) -> Iterator[None]:
        if self._breaker.refuses():
            raise ArtifactsUnavailableError(f"{failure}: it did not answer a moment ago.")
        try:
            yield
            self._breaker.mend()
        except CertisetError:
            raise
        except FSTimeoutError as error:
            self._breaker.trip()
            raise ArtifactsUnavailableError(f"{failure}: it does not answer.") from error
        except self._failures as error:
            if isinstance(error, OSError) and error.errno in _NO_SPACE:
                raise StoreFullError("The artifact store has no space left: free some, then try again.") from error
            if isinstance(error, OSError) and error.errno in _READ_ONLY:
                raise ArtifactsReadOnlyError(f"{failure}: {error.strerror}.") from error
            # The rest of a message may contain addresses, which belong in the log only.
            reason = (isinstance(error, OSError) and error.strerror) or type(error).__name__
            raise ArtifactsUnavailableError(f"{failure}: {reason}.") from error


def _missing(name: str) -> DamagedFileError:
    return DamagedFileError(f"The stored file {name} is missing.")


def _damaged(name: str, size: int, found: str) -> DamagedFileError:
    return DamagedFileError(
        f"The stored file {name} is damaged: its {size} bytes have the SHA-256 {found[:12]}…. "
        f"Restore it from a backup, or upload its content again."
    )


def _digest(content: bytes | Path) -> str:
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_local(temporary: Path, final: Path, content: bytes | Path) -> None:
    temporary.parent.mkdir(parents=True, exist_ok=True)
    if not final.parent.exists():
        final.parent.mkdir(parents=True, exist_ok=True)
        _sync_folder(final.parent.parent)
    with temporary.open("xb") as stream:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source:
            shutil.copyfileobj(source, stream, _PIECE)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.rename(final)
    # The rename itself must survive a power cut, too.
    _sync_folder(final.parent)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _modified(entry: dict[str, Any]) -> float:
    value: Any = entry.get("mtime", entry.get("LastModified", entry.get("created")))
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if value is not None else time.time()
