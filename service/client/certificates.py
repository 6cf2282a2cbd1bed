"""Certificates: read, kept, checked."""

import base64
import json
from collections.abc import Iterator

from certiset.core.resources import CertificateWord, PublicKey, Verification
from certiset.service.client.certificate import Certificate, SizeStatement
from certiset.service.client.connection import Connection, part

SIZES = "sizes"
"""the kind of statements that are listed among the certificates"""


class Certificates:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        predictor: str | None = None,
        dataset: str | None = None,
        model: str | None = None,
        alpha: float | None = None,
        bound: str | None = None,
        validity: str | None = None,
    ) -> Iterator[Certificate]:
        """Those that agree with what is given, newest first; validity is consistent, contradicted or
        withdrawn.
        """
        items = self._connection.items(
            "/certificates",
            predictor=predictor,
            dataset=dataset,
            model=model,
            alpha=alpha,
            bound=bound,
            validity=validity,
        )
        return (Certificate.model_validate(item) for item in items if item.get("kind") != SIZES)

    def sizes(self, predictor: str) -> Iterator[SizeStatement]:
        """What was certified about the sizes of a predictor's sets on fresh inputs, newest first."""
        items = self._connection.items("/certificates", predictor=predictor)
        return (SizeStatement.model_validate(item) for item in items if item.get("kind") == SIZES)

    def get(self, id: str) -> Certificate:
        return self._connection.ask(Certificate, "GET", f"/certificates/{part(id)}")

    def download(self, id: str) -> bytes:
        """The document, byte for byte, for `certiset verify`."""
        return self._connection.send("GET", f"/certificates/{part(id)}").content

    def verify(self, id: str) -> Verification:
        """Has the server recompute the promises from the certificate's own numbers, and check its signature."""
        return self._connection.ask(Verification, "GET", f"/certificates/{part(id)}/verify")

    def attestation(self, id: str) -> bytes:
        """The certificate as an in-toto statement in a DSSE envelope, for tools that know nothing of certiset."""
        return self._connection.send("GET", f"/certificates/{part(id)}/attestation").content

    def signed_status(self, id: str) -> bytes:
        """Whether it is in force, dated and signed, in a DSSE envelope: for a reader who is offline later."""
        return self._connection.send("GET", f"/certificates/{part(id)}/status").content

    def status(self, id: str) -> CertificateWord:
        """What the signed status says."""
        return self.read_status(self.signed_status(id))

    @staticmethod
    def read_status(envelope: bytes) -> CertificateWord:
        """What an envelope with a status says; who signed it is not checked."""
        statement = base64.b64decode(json.loads(envelope)["payload"])
        return CertificateWord.model_validate(json.loads(statement)["predicate"])

    def keys(self) -> tuple[PublicKey, ...]:
        """All keys whose certificates are trusted there, the current one first."""
        items = self._connection.send("GET", "/certificates/keys").json()["items"]
        return tuple(PublicKey.model_validate(item) for item in items)

    def key(self) -> PublicKey:
        """The key whose signature certificates issued there bear."""
        return self._connection.ask(PublicKey, "GET", "/certificates/key")
