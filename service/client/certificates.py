"""Certificates: read, kept, checked."""

from collections.abc import Iterator

from certiset.core.resources import PublicKey, Verification
from certiset.service.client.certificate import Certificate
from certiset.service.client.connection import Connection, part


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
        return self._connection.pages(
            Certificate,
            "/certificates",
            predictor=predictor,
            dataset=dataset,
            model=model,
            alpha=alpha,
            bound=bound,
            validity=validity,
        )

    def get(self, id: str) -> Certificate:
        return self._connection.ask(Certificate, "GET", f"/certificates/{part(id)}")

    def download(self, id: str) -> bytes:
        """The document, byte for byte, for `certiset verify`."""
        return self._connection.send("GET", f"/certificates/{part(id)}").content

    def verify(self, id: str) -> Verification:
        """Has the server recompute the promises from the certificate's own numbers, and check its signature."""
        return self._connection.ask(Verification, "GET", f"/certificates/{part(id)}/verify")

    def key(self) -> PublicKey:
        """The key whose signature certificates issued there bear."""
        return self._connection.ask(PublicKey, "GET", "/certificates/key")
