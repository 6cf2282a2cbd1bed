"""What is served."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from certiset.core.monitor_resources import Monitor
from certiset.core.resources import Predictor
from certiset.service.client.certificate import SizeStatement
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

    def certify_size(self, id: str, dataset_id: str, gamma: float = 0.05) -> SizeStatement:
        """Certifies the mean size of its sets on a dataset of fresh inputs, which needs no truths."""
        body = {"dataset_id": dataset_id, "gamma": gamma}
        return self._connection.ask(SizeStatement, "POST", f"/predictors/{part(id)}/sizes", json=body)

    def delete(self, id: str) -> None:
        """Ends its serving; the certificate stays readable, marked as withdrawn."""
        self._connection.send("DELETE", f"/predictors/{part(id)}", again=False)

    def download(self, id: str, file: str | os.PathLike[str]) -> None:
        """Writes the file with model and members, whose SHA-256 stands on the certificate; whole, or not at all."""
        self._connection.save(f"/predictors/{part(id)}/file", Path(file))

    def monitor(self, id: str) -> Monitor:
        """How its sets have done, by the outcomes that were reported."""
        return self._connection.ask(Monitor, "GET", f"/predictors/{part(id)}/monitor")
