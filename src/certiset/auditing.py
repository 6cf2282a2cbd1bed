"""Certificates checked by whoever holds one: offline, and without data, model or PyTorch."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from certiset.core.certificate import Certificate, Check, SizeStatement, Verification
from certiset.core.certificate.fresh_sizes import is_size_statement
from certiset.core.certificate.json_text import parse
from certiset.core.certificate.public_keys import is_public_key
from certiset.core.errors import DamagedFileError, OptionError


class DownloadedCertificate(Protocol):
    """A certificate as `certiset.Client` has read it."""

    @property
    def document(self) -> Mapping[str, Any]: ...


Source: TypeAlias = (
    Certificate | SizeStatement | DownloadedCertificate | Mapping[str, Any] | str | bytes | os.PathLike[str]
)

_LARGEST_FILE = 64 * 2**20
_PREDICTOR = "predictor.json"


def verify(certificate: Source, key: str | Collection[str] | None = None) -> Verification:
    """Whether a certificate's promises follow from its own numbers, and a key that the reader trusts has signed them.

    The certificate may be a `Certificate`, one that a `Client` has read, its JSON, as text or as a mapping, the path of
    its file, or that of a saved predictor's folder, whose tensors are then checked, too. It may also be a statement
    about sizes, in any of these forms but the last. ``key`` is the issuer's public key (Ed25519, in base64), or
    several, one of which must have signed. Without a key the answer is true if the numbers follow from each other,
    which those of an invented certificate do as well: `trusted` is what counts.
    """
    keys = [] if key is None else [key] if isinstance(key, str) else list(key)
    if not all(isinstance(one, str) and is_public_key(one) for one in keys) or (key is not None and not keys):
        raise OptionError("key must be an Ed25519 public key: 32 bytes, in base64.", field="key")
    found, beside = read(certificate)
    return found.verify(keys if key is not None else None).beside(beside)


def read_certificate(source: Source) -> Certificate:
    """The certificate, from any form that `verify` takes; what is none is a `DamagedFileError`."""
    found = read(source)[0]
    if not isinstance(found, Certificate):
        raise DamagedFileError("This is not a certificate, but a statement about the sizes of a predictor's sets.")
    return found


def read(source: Source) -> tuple[Certificate | SizeStatement, list[Check]]:
    """The certificate or statement, and what the files of a saved predictor beside it say."""
    if isinstance(source, Certificate | SizeStatement):
        return source, []
    if isinstance(source, Mapping):
        return _document(source, "This"), []
    if isinstance(source, bytes) or (isinstance(source, str) and source.lstrip().startswith("{")):
        return _document(parse(source, "This"), "This"), []
    if isinstance(source, str | os.PathLike):
        return _from_file(Path(source))
    if not isinstance(getattr(source, "document", None), Mapping):
        raise OptionError(
            f"This is no certificate, but {type(source).__name__}: give a certificate, its JSON, or the path of its "
            "file.",
            field="certificate",
        )
    return _document(source.document, "This"), []


def _from_file(file: Path) -> tuple[Certificate | SizeStatement, list[Check]]:
    if file.is_dir():
        file /= _PREDICTOR
    if file.stat().st_size > _LARGEST_FILE:
        raise DamagedFileError(f"{file} is larger than {_LARGEST_FILE // 2**20} MiB, which no certificate is.")
    content = parse(file.read_bytes(), str(file))
    if not isinstance(content, Mapping) or "certificate" not in content or file.name != _PREDICTOR:
        return _document(content, str(file)), []
    from certiset.core.fit import saved_predictor  # noqa: PLC0415 (needed for folders only)

    if not saved_predictor.is_description(content):
        raise DamagedFileError(f"{file} holds a certificate, but is not what a saved predictor consists of.")
    certificate = _certificate(content["certificate"], str(file))
    return certificate, saved_predictor.file_checks(file.with_name(saved_predictor.TENSORS), content, certificate)


def _document(content: Any, what: str) -> Certificate | SizeStatement:
    if not is_size_statement(content):
        return _certificate(content, what)
    try:
        return SizeStatement.from_json(content)
    except DamagedFileError as error:
        raise DamagedFileError(f"{what} is not a statement about sizes: {error}") from None


def _certificate(content: Any, what: str) -> Certificate:
    """A document that is a certificate: one inside another could be shown for what it is not."""
    try:
        return Certificate.from_json(content)
    except DamagedFileError as error:
        raise DamagedFileError(f"{what} is not a certificate: {error}") from None
