"""What is served."""

from collections.abc import Iterator
from typing import Literal

from certiset.core.resources import Monitor, Predictor
from certiset.service.client.connection import Connection, part


class Predictors:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> Iterator[Predictor]:
        """All of them, newest first."""
        return self._connection.pages(Predictor, "/predictors")

    def get(self, id: str) -> Predictor:
        return self._connection.ask(Predictor, "GET", f"/predictors/{part(id)}")

    def serve(self, id: str, members: Literal["random", "best"]) -> Predictor:
        """From now on a random member for each input, or always the one with the smallest certified size."""
        return self._connection.ask(Predictor, "PATCH", f"/predictors/{part(id)}", json={"serve": members})

    def delete(self, id: str) -> None:
        """Ends its serving; the certificate stays readable, marked as withdrawn."""
        self._connection.send("DELETE", f"/predictors/{part(id)}", again=False)

    def monitor(self, id: str) -> Monitor:
        """How its sets have done, by the outcomes that were reported."""
        return self._connection.ask(Monitor, "GET", f"/predictors/{part(id)}/monitor")
