"""The certificate of a predictor: read strictly, and checked by its own numbers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from certiset.core.certificate.content import FORMAT, CertificateContent
from certiset.core.certificate.format1_fields import as_current
from certiset.core.certificate.json_text import parse
from certiset.core.certificate.strict_json import read
from certiset.core.certificate.verification import Verification, verify
from certiset.core.errors import DamagedFileError


@dataclass(frozen=True)
class Certificate(CertificateContent):
    """What a predictor promises, from which numbers, and how anyone can check them."""

    @classmethod
    def from_json(cls, source: Mapping[str, Any] | str) -> "Certificate":
        """Reads `to_json` back, from a mapping or JSON text; anything else is refused with the field's name."""
        content = parse(source, "the certificate") if isinstance(source, str) else source
        if isinstance(content, Mapping) and "format" not in content:
            content = as_current(content)
        elif isinstance(content, Mapping) and content["format"] != FORMAT:
            raise DamagedFileError(
                f"the certificate is of format {str(content['format'])[:20]}, and this version reads 1 and {FORMAT}."
            )
        return read(cls, content, "certificate")

    def verify(self, trusted: str | Collection[str] | None = None) -> Verification:
        """Recomputes every promise from the certificate's own numbers, and checks the signature.

        ``trusted`` is a public key in base64, or several: only they can make the answer true.
        """
        return verify(self, trusted)
