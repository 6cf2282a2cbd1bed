"""The certificate of a predictor: what it promises, from which numbers, and how anyone can check them.

The names are loaded on first use: a client reads what a certificate says without what recomputes it.
"""

from typing import TYPE_CHECKING

from certiset.core.lazy import lazy_names

if TYPE_CHECKING:
    from certiset.core.certificate.certificate import Certificate
    from certiset.core.certificate.checks import Check
    from certiset.core.certificate.content import (
        CertificateContent,
        Coverage,
        Efficiency,
        Member,
        Provenance,
        Union,
    )
    from certiset.core.certificate.verification import Verification

__all__ = [
    "Certificate",
    "CertificateContent",
    "Check",
    "Coverage",
    "Efficiency",
    "Member",
    "Provenance",
    "Union",
    "Verification",
]

_CONTENT = ("CertificateContent", "Coverage", "Efficiency", "Member", "Provenance", "Union")
__getattr__ = lazy_names(
    __name__,
    {
        "Certificate": "certificate",
        "Check": "checks",
        "Verification": "verification",
        **dict.fromkeys(_CONTENT, "content"),
    },
)
