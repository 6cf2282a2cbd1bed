"""Certificates checked by whoever holds one: offline, and without data, model or PyTorch."""

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from certiset.core.certificate import Certificate, Verification
from certiset.core.errors import DamagedFileError, OptionError


class DownloadedCertificate(Protocol):
    """A certificate as `certiset.Client` has read it."""

    @property
    def document(self) -> Mapping[str, Any]: ...


Source: TypeAlias = Certificate | DownloadedCertificate | Mapping[str, Any] | str | bytes | os.PathLike[str]

_LARGEST_FILE = 64 * 2**20
_KEY_BYTES = 32


def verify(certificate: Source, key: str | None = None) -> Verification:
    """Whether a certificate's promises follow from its own numbers, and its signature, if there is one, holds.

    The certificate may be a `Certificate`, one that a `Client` has read, its JSON, as text or as a mapping, or the path
    of a file: a certificate or the predictor.json of a saved predictor. With ``key``, an Ed25519 public key in base64,
    only that key's signature is accepted.
    """
    if key is not None and not is_public_key(key):
        raise OptionError("key must be an Ed25519 public key: 32 bytes, in base64.", field="key")
    return read_certificate(certificate).verify(key)


def read_certificate(source: Source) -> Certificate:
    """The certificate, from any form that `verify` takes; what is none is a `DamagedFileError`."""
    if isinstance(source, Certificate):
        return source
    if isinstance(source, Mapping):
        return _from_content(source, "This")
    if isinstance(source, bytes) or (isinstance(source, str) and source.lstrip().startswith("{")):
        return _from_bytes(source, "This")
    if isinstance(source, str | os.PathLike):
        file = Path(source)
        if file.stat().st_size > _LARGEST_FILE:
            raise DamagedFileError(f"{file} is larger than {_LARGEST_FILE // 2**20} MiB, which no certificate is.")
        return _from_bytes(file.read_bytes(), str(file))
    return _from_content(source.document, "This")


def is_public_key(text: str) -> bool:
    """Whether this is an Ed25519 public key in base64."""
    try:
        return len(base64.b64decode(text, validate=True)) == _KEY_BYTES
    except ValueError:
        return False


def _from_bytes(source: str | bytes, what: str) -> Certificate:
    try:
        return _from_content(json.loads(source), what)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DamagedFileError):
            raise
        raise DamagedFileError(f"{what} is not JSON: {error}.") from None


def _from_content(content: Any, what: str) -> Certificate:
    inner = content.get("certificate", content) if isinstance(content, Mapping) else content
    try:
        return Certificate.from_json(inner)
    except DamagedFileError as error:
        raise DamagedFileError(f"{what} is not a certificate: {error}") from None
