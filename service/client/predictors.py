"""What is served."""

from collections.abc import Iterator
from typing import Literal

from service.client.answers import Monitor, Predictor
from service.client.connection import Connection, part


class Predictors:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> Iterator[Predictor]:
        """All of them, newest first."""
        return (Predictor.model_validate(item) for item in self._connection.pages("/predictors"))

    def get(self, id: str) -> Predictor:
        return self._connection.get(Predictor, f"/predictors/{part(id)}")

    def serve(self, id: str, members: Literal["random", "best"]) -> Predictor:
        """From now on a random member for each input, or always the one with the smallest certified size."""
        response = self._connection.send("PATCH", f"/predictors/{part(id)}", json={"serve": members})
        return Predictor.model_validate_json(response.content)

    def monitor(self, id: str) -> Monitor:
        """How its sets have done, by the outcomes that were reported."""
        return self._connection.get(Monitor, f"/predictors/{part(id)}/monitor")
