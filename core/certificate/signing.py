"""Signatures: who issued a certificate. Ed25519 over everything that it says, the signature itself apart."""

import base64
import binascii
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from certiset.core.certificate.content import CertificateContent
from certiset.core.errors import SettingsError
from certiset.core.private_file import create_private, read_private

_KIND = "ed25519"

C = TypeVar("C", bound=CertificateContent)


@dataclass(frozen=True)
class Signer:
    """Holds the private key. A signature reads ``ed25519:PUBLIC KEY:SIGNATURE``, both in base64."""

    private: Ed25519PrivateKey

    @classmethod
    def from_file(cls, file: Path) -> "Signer":
        """From a PEM file that others may not read."""
        try:
            key = load_pem_private_key(read_private(file, "The signing key"), password=None)
        except (ValueError, TypeError) as error:
            raise SettingsError(f"{file} is not a private key in PEM form: {error}.") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise SettingsError(f"{file} is not an Ed25519 key.")
        return cls(key)

    @classmethod
    def from_file_or_new(cls, file: Path) -> "Signer":
        """Creates the file if it is missing; of several processes that try at once, one makes it and all use it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            content = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            create_private(file, content)
        return cls.from_file(file)

    @property
    def public_key(self) -> str:
        raw = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return base64.b64encode(raw).decode()

    def sign(self, certificate: C) -> C:
        signature = base64.b64encode(self.private.sign(signed_bytes(certificate))).decode()
        return replace(certificate, signature=f"{_KIND}:{self.public_key}:{signature}")


def signed_bytes(certificate: CertificateContent) -> bytes:
    content = certificate.to_json()
    content.pop("signature")
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def signed_by(certificate: CertificateContent) -> str | None:
    """The public key whose signature the certificate bears, or None if it bears none that holds."""
    kind, _, rest = (certificate.signature or "").partition(":")
    key, _, signature = rest.partition(":")
    if kind != _KIND:
        return None
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        public.verify(base64.b64decode(signature, validate=True), signed_bytes(certificate))
    except (InvalidSignature, ValueError, binascii.Error):
        return None
    return key
