"""The certificate of a predictor: what it promises, from which numbers, and how anyone can check them.

The names are loaded on first use: a client reads what a certificate says without what recomputes it.
"""

from typing import TYPE_CHECKING

from certiset.core.lazy import lazy_names

if TYPE_CHECKING:
    from certiset.core.certificate.certificate import Certificate
    from certiset.core.certificate.checks import Check
    from certiset.core.certificate.content import (
        Account,
        Caveat,
        CertificateContent,
        Coverage,
        Data,
        DeploymentAccount,
        Efficiency,
        Member,
        SizeQuantile,
        Union,
    )
    from certiset.core.certificate.fresh_sizes import SizeStatement
    from certiset.core.certificate.names import ModelFacts, Names
    from certiset.core.certificate.provenance import Provenance
    from certiset.core.certificate.verification import Verification

__all__ = [
    "Account",
    "Caveat",
    "Certificate",
    "CertificateContent",
    "Check",
    "Coverage",
    "Data",
    "DeploymentAccount",
    "Efficiency",
    "Member",
    "ModelFacts",
    "Names",
    "Provenance",
    "SizeQuantile",
    "SizeStatement",
    "Union",
    "Verification",
]

_CONTENT = (
    "Account",
    "Caveat",
    "CertificateContent",
    "Coverage",
    "Data",
    "DeploymentAccount",
    "Efficiency",
    "Member",
    "SizeQuantile",
    "Union",
)
__getattr__ = lazy_names(
    __name__,
    {
        "Certificate": "certificate",
        "Check": "checks",
        "ModelFacts": "names",
        "Names": "names",
        "Provenance": "provenance",
        "SizeStatement": "fresh_sizes",
        "Verification": "verification",
        **dict.fromkeys(_CONTENT, "content"),
    },
)
