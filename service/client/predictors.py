"""What is served."""

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np

from certiset.core.insight_resources import ModelOutputs
from certiset.core.level_resources import Levels
from certiset.core.monitor_resources import Monitor
from certiset.core.resources import Predictor
from certiset.service.client.certificate import SizeStatement
from certiset.service.client.collection import Collection
from certiset.service.client.connection import given


class Predictors(Collection[Predictor]):
    path = "/predictors"
    resource = Predictor

    def serve(self, id: str, members: Literal["random", "best"]) -> Predictor:
        """From now on a random member for each input, or always the one with the smallest certified size."""
        return self._connection.ask(Predictor, "PATCH", self._at(id), json={"serve": members})

    def upload(self, folder: str | os.PathLike[str], *, name: str = "") -> Predictor:
        """A predictor that was saved to a folder: checked, marked as imported, and served."""
        files = {"file": "predictor.safetensors", "description": "predictor.json"}
        parts = {field: (file, (Path(folder) / file).read_bytes()) for field, file in files.items()}
        return self._connection.ask(Predictor, "POST", self.path, data={"name": name}, files=lambda: parts)

    def rename(self, id: str, name: str) -> Predictor:
        """A new name; certificates keep the names that they were issued with."""
        return self._rename(id, name)

    def certify_size(self, id: str, dataset_id: str, gamma: float | None = None) -> SizeStatement:
        """Certifies the mean size of its sets on a dataset of fresh inputs, which needs no truths.

        Without ``gamma``, the probability with which the statement may fail, the server's default counts.
        """
        body = {"dataset_id": dataset_id} | ({} if gamma is None else {"gamma": gamma})
        return self._connection.ask(SizeStatement, "POST", self._at(id, "/sizes"), json=body)

    def levels(self, id: str, size: float | None = None, share: float = 0.9) -> Levels:
        """Where the promise is for all alpha: ranks and sizes by alpha.

        With a ``size``: also the smallest alpha at which that share of the sets is no larger, as measured.
        """
        asked = given({"size": size, "share": None if size is None else share})
        return self._connection.ask(Levels, "GET", self._at(id, "/levels"), params=asked)

    def model_outputs(self, id: str, x: Any) -> ModelOutputs:
        """What its model says by itself about some rows, as probabilities or numbers: nothing is promised for it."""
        rows = np.asarray(x).tolist()
        return self._connection.ask(ModelOutputs, "POST", self._at(id, "/outputs"), json={"x": rows})

    def delete(self, id: str) -> None:
        """Ends its serving; the certificate stays readable, marked as withdrawn."""
        super().delete(id)

    def download(self, id: str, file: str | os.PathLike[str]) -> None:
        """Writes the file with model and members, whose SHA-256 stands on the certificate; whole, or not at all."""
        self._connection.save(self._at(id, "/file"), Path(file))

    def monitor(self, id: str) -> Monitor:
        """How its sets have done, by the outcomes that were reported."""
        return self._connection.ask(Monitor, "GET", self._at(id, "/monitor"))
