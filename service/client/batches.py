"""Batches: sets for all rows of a data set, asked for, waited for, fetched."""

import os
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from certiset.core.batch_resources import Batch
from certiset.core.resources import Progress
from certiset.service.client.collection import Collection
from certiset.service.client.connection import given

_POLL_SECONDS = (0.1, 2.0)
"""at first, and at most"""


class Batches(Collection[Batch]):
    path = "/batches"
    resource = Batch

    def start(
        self,
        predictor: str,
        dataset: str,
        *,
        alpha: float | None = None,
        cases: str | None = None,
        name: str = "",
        idempotency_key: str | None = None,
    ) -> Batch:
        """Queues the sets of all rows of a dataset, by its id; ``predictor`` is an id, or a deployment's name.

        ``alpha`` is needed where the promise is for all of them at once; ``cases`` is a column of the dataset that
        names the case of each row, which has the same member again. Groups are read from the columns that the
        calibration named.
        """
        # One of our own lets a request be repeated whose answer was lost.
        headers = {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}
        further = given({"alpha": alpha, "cases": cases, "name": name or None})
        body = {"predictor": predictor, "dataset_id": dataset, **further}
        return self._connection.ask(Batch, "POST", self.path, json=body, headers=headers)

    def list(self, status: str | None = None) -> Iterator[Batch]:
        """All of them, newest first."""
        return self._connection.pages(Batch, self.path, status=status)

    def wait(self, id: str, on_progress: Callable[[Progress], object] | None = None) -> Batch:
        """The batch when it has ended: succeeded, failed or cancelled."""
        pause, most = _POLL_SECONDS
        told: Progress | None = None
        while True:
            found = self.get(id)
            if on_progress is not None and found.progress is not None and found.progress != told:
                told = found.progress
                on_progress(told)
            if found.finished:
                return found
            time.sleep(pause)
            pause = min(1.5 * pause, most)

    def cancel(self, id: str) -> Batch:
        """Ends a queued one at once and a running one within seconds; a finished one stays what it is."""
        return self._connection.ask(Batch, "POST", self._at(id, "/cancel"))

    def delete(self, id: str) -> None:
        """Removes one that has ended, with its file."""
        super().delete(id)

    def download(self, id: str, file: str | os.PathLike[str]) -> None:
        """Writes the sets of one that has succeeded, a Parquet file; whole, or not at all."""
        self._connection.save(self._at(id, "/file"), Path(file))
