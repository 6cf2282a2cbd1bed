"""The certificate of a predictor: read strictly, and checked by its own numbers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.strict_json import read
from certiset.core.certificate.verification import Verification, verify
from certiset.core.errors import DamagedFileError


@dataclass(frozen=True)
class Certificate(CertificateContent):
    """What a predictor promises, from which numbers, and how anyone can check them."""

    @classmethod
    def from_json(cls, source: Mapping[str, Any] | str) -> "Certificate":
        """Reads `to_json` back, from a mapping or JSON text; anything else is refused with the field's name."""
        try:
            content = json.loads(source) if isinstance(source, str) else source
        except (ValueError, RecursionError) as error:
            raise DamagedFileError(f"the certificate is not JSON: {error}.") from None
        return read(cls, content, "certificate")

    def verify(self, trusted_key: str | None = None) -> Verification:
        """Recomputes every promise from the certificate's own numbers, and checks the signature."""
        return verify(self, trusted_key)
