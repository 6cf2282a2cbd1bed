"""Signatures: who issued a certificate. Ed25519 over everything that it says, the signature itself apart."""

import base64
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from certiset.core.certificate.names import Names
from certiset.core.certificate.public_keys import key_id, raw_key
from certiset.core.errors import SettingsError
from certiset.core.private_file import create_private, read_private

_KIND = "ed25519"


class SignedDocument(Protocol):
    """A certificate, or a statement beside it: a frozen dataclass with a signature among its fields."""

    @property
    def format(self) -> int: ...

    @property
    def names(self) -> Names | None: ...

    @property
    def signature(self) -> str | None: ...

    def to_json(self) -> dict[str, Any]: ...


C = TypeVar("C", bound=SignedDocument)


@dataclass(frozen=True)
class Signer:
    """Holds the private key. A signature reads ``ed25519:PUBLIC KEY:SIGNATURE``, both in base64."""

    private: Ed25519PrivateKey
    issuer: str | None = None
    """who signs, in words that certificates state"""

    @classmethod
    def from_file(cls, file: Path, issuer: str | None = None) -> "Signer":
        """From a PEM file that others may not read."""
        try:
            key = load_pem_private_key(read_private(file, "The signing key"), password=None)
        except (ValueError, TypeError) as error:
            raise SettingsError(f"{file} is not a private key in PEM form: {error}.") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise SettingsError(f"{file} is not an Ed25519 key.")
        return cls(key, issuer or None)

    @classmethod
    def from_file_or_new(cls, file: Path, issuer: str | None = None) -> "Signer":
        """Creates the file if it is missing; of several processes that try at once, one makes it and all use it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            content = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            create_private(file, content)
        return cls.from_file(file, issuer)

    @property
    def public_key(self) -> str:
        raw = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return base64.b64encode(raw).decode()

    def sign(self, certificate: C) -> C:
        """With who signs and the key's id among the names, from format 2 on."""
        if certificate.format > 1:
            names = replace(certificate.names or Names(), key_id=key_id(self.public_key))
            certificate = _with(certificate, names=replace(names, issuer=self.issuer or names.issuer))
        signature = base64.b64encode(self.signature(signed_bytes(certificate))).decode()
        return _with(certificate, signature=f"{_KIND}:{self.public_key}:{signature}")

    def signature(self, content: bytes) -> bytes:
        return self.private.sign(content)


def _with(document: C, **changes: Any) -> C:
    changed: C = replace(document, **changes)  # type: ignore[type-var]
    return changed


def signed_bytes(certificate: SignedDocument) -> bytes:
    content = certificate.to_json()
    content.pop("signature", None)
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def signed_by(certificate: SignedDocument) -> str | None:
    """The public key whose signature the certificate bears, or None if it bears none that holds."""
    kind, _, rest = (certificate.signature or "").partition(":")
    key, _, text = rest.partition(":")
    if kind != _KIND:
        return None
    try:
        signature, key = base64.b64decode(text, validate=True), base64.b64encode(raw_key(key)).decode()
    except ValueError:
        return None
    return key if has_signed(key, signature, signed_bytes(certificate)) else None


def has_signed(key: str, signature: bytes, content: bytes) -> bool:
    """Whether this is the key's signature of the content."""
    try:
        Ed25519PublicKey.from_public_bytes(raw_key(key)).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True
