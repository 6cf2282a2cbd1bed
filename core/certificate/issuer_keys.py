"""The keys of a deployment, and what it has issued: certificates that one of its keys has signed as they are."""

import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from certiset.core.certificate.certificate import Certificate
from certiset.core.certificate.fresh_sizes import SizeStatement, is_size_statement
from certiset.core.certificate.json_text import parse
from certiset.core.certificate.public_keys import is_public_key
from certiset.core.certificate.signing import signed_by
from certiset.core.errors import DamagedCertificateError, DamagedFileError, NotFoundError

_MOST_KNOWN = 10_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IssuerKeys:
    current: str
    """public, in base64, like the others"""
    retired: tuple[str, ...] = ()
    _known: dict[tuple[str, bytes], str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, current: str, retired: Iterable[str]) -> "IssuerKeys":
        """Of what is no key among the retired ones, nothing is kept: it has signed nothing."""
        found = (key for key in dict.fromkeys(retired) if is_public_key(key) and key != current)
        return cls(current, tuple(found))

    @property
    def all(self) -> tuple[str, ...]:
        return (self.current, *self.retired)

    def has_issued(self, document: str, id: str) -> bool:
        """Whether this is one; what is none is logged."""
        try:
            self.digest_of(document, id)
        except DamagedCertificateError as error:
            _log.error("%s", error)
            return False
        return True

    def digest_of(self, document: str, id: str) -> str:
        """The digest of one, and a `DamagedCertificateError` for what is none.

        Those that were found to be are remembered by their hash: reading one with hundreds of members takes a while.
        """
        key = (id, hashlib.sha256(document.encode()).digest())
        digest = self._known.get(key)
        if digest is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            digest = self._known[key] = self.document(document, id).digest
        return digest

    def issued(self, document: str, id: str) -> Certificate:
        """The certificate of that id; one that was changed since it was signed is a `DamagedCertificateError`."""
        found = self.document(document, id)
        if not isinstance(found, Certificate):
            raise NotFoundError(f"{id} is not a certificate, but a statement about sizes.")
        return found

    def document(self, document: str, id: str) -> Certificate | SizeStatement:
        """The certificate, or the statement about sizes, of that id."""
        try:
            certificate = read_document(document)
        except DamagedFileError as error:
            raise DamagedCertificateError(f"The stored certificate {id} is damaged: {error}") from None
        if not certificate.id == id == certificate.digest_id:
            raise DamagedCertificateError(
                f"The stored certificate {id} is not what was issued under that id: it was changed. Restore the "
                "database from a backup."
            )
        if signed_by(certificate) not in self.all:
            raise DamagedCertificateError(
                f"No key of this service has signed the certificate {id} as it is stored: it was changed, or its key "
                "is missing in CERTISET_RETIRED_KEYS."
            )
        return certificate


def read_document(text: str) -> Certificate | SizeStatement:
    """What is kept among the certificates."""
    content = parse(text, "the certificate")
    return SizeStatement.from_json(content) if is_size_statement(content) else Certificate.from_json(content)
