"""Certificates: read, kept, checked."""

from collections.abc import Iterator
from typing import Any

from service.client.answers import PublicKey, Verification
from service.client.certificate import Certificate
from service.client.connection import Connection, part


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
        """Those that agree with what is given, newest first; validity is consistent or contradicted."""
        asked: dict[str, Any] = {"predictor": predictor, "dataset": dataset, "model": model}
        asked |= {"alpha": alpha, "bound": bound, "validity": validity}
        return (Certificate.of(item) for item in self._connection.pages("/certificates", **asked))

    def get(self, id: str) -> Certificate:
        return Certificate.of(self._connection.send("GET", f"/certificates/{part(id)}").json())

    def download(self, id: str) -> bytes:
        """The document, byte for byte, for `certiset verify`."""
        return self._connection.send("GET", f"/certificates/{part(id)}").content

    def verify(self, id: str) -> Verification:
        """Has the server recompute the promises from the certificate's own numbers, and check its signature."""
        return self._connection.get(Verification, f"/certificates/{part(id)}/verify")

    def key(self) -> PublicKey:
        """The key whose signature certificates issued there bear."""
        return self._connection.get(PublicKey, "/certificates/key")
