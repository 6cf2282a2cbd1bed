"""What is said about a predictor to tools that know nothing of certiset: in-toto statements, version 1.

The subjects are files, named by their SHA-256: the certificate as it is served and, from format 2 on, the predictor's.
"""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.fresh_sizes import SizeStatement

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATES = "tag:certiset,2026"


def attestation(certificate: CertificateContent, document: str) -> bytes:
    """That the certificate was issued: the predicate is the certificate itself."""
    predicate = certificate.to_json()
    return _statement(certificate, document, f"{_PREDICATES}:certificate/v{certificate.format}", predicate)


def size_attestation(statement: SizeStatement, document: str) -> bytes:
    """That a statement about sizes was issued: the predicate is the statement itself."""
    return _statement(statement, document, f"{_PREDICATES}:sizes/v{statement.format}", statement.to_json())


def attested(issued: CertificateContent | SizeStatement, document: str) -> bytes:
    """The one or the other."""
    return size_attestation(issued, document) if isinstance(issued, SizeStatement) else attestation(issued, document)


def status_word(certificate: CertificateContent | SizeStatement, document: str, word: dict[str, Any]) -> bytes:
    """What has become of it, by the clock of whoever says it."""
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    predicate = {"certificate_id": certificate.id, "predictor_id": certificate.predictor_id, "at": at, **word}
    return _statement(certificate, document, f"{_PREDICATES}:status/v1", predicate)


def _statement(
    certificate: CertificateContent | SizeStatement, document: str, kind: str, predicate: dict[str, Any]
) -> bytes:
    subjects = [{"name": f"{certificate.id}.json", "digest": {"sha256": hashlib.sha256(document.encode()).hexdigest()}}]
    if certificate.provenance.predictor_sha256 is not None:
        file = {"sha256": certificate.provenance.predictor_sha256}
        subjects.append({"name": f"{certificate.predictor_id}.safetensors", "digest": file})
    content = {"_type": _STATEMENT, "subject": subjects, "predicateType": kind, "predicate": predicate}
    return json.dumps(content, allow_nan=False).encode()
