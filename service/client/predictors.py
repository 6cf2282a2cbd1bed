"""What is served."""

import os
from pathlib import Path
from typing import Literal

from certiset.core.monitor_resources import Monitor
from certiset.core.resources import Predictor
from certiset.service.client.certificate import SizeStatement
from certiset.service.client.collection import Collection


class Predictors(Collection[Predictor]):
    path = "/predictors"
    resource = Predictor

    def serve(self, id: str, members: Literal["random", "best"]) -> Predictor:
        """From now on a random member for each input, or always the one with the smallest certified size."""
        return self._connection.ask(Predictor, "PATCH", self._at(id), json={"serve": members})

    def certify_size(self, id: str, dataset_id: str, gamma: float = 0.05) -> SizeStatement:
        """Certifies the mean size of its sets on a dataset of fresh inputs, which needs no truths."""
        body = {"dataset_id": dataset_id, "gamma": gamma}
        return self._connection.ask(SizeStatement, "POST", self._at(id, "/sizes"), json=body)

    def delete(self, id: str) -> None:
        """Ends its serving; the certificate stays readable, marked as withdrawn."""
        super().delete(id)

    def download(self, id: str, file: str | os.PathLike[str]) -> None:
        """Writes the file with model and members, whose SHA-256 stands on the certificate; whole, or not at all."""
        self._connection.save(self._at(id, "/file"), Path(file))

    def monitor(self, id: str) -> Monitor:
        """How its sets have done, by the outcomes that were reported."""
        return self._connection.ask(Monitor, "GET", self._at(id, "/monitor"))
