"""Calibrations: asked for, watched, cancelled, deleted."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from certiset.core.resources import Calibration, Progress
from certiset.service.client.collection import Collection
from certiset.service.client.events import Event, events

RECONNECT_SECONDS = 300.0
"""how long a watched server may be unreachable"""


class Calibrations(Collection[Calibration]):
    path = "/calibrations"
    resource = Calibration

    def start(self, dataset: str, model: str, *, idempotency_key: str | None = None, **options: Any) -> Calibration:
        """Queues a fit of this model on this dataset, by their ids; the options are those of POST /calibrations.

        The same request with the same ``idempotency_key`` is the same calibration, today or next week.
        """
        # One of our own lets a request be repeated whose answer was lost.
        headers = {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}
        body = {"dataset_id": dataset, "model_id": model, **options}
        return self._connection.ask(Calibration, "POST", self.path, json=body, headers=headers)

    def list(self, status: str | None = None) -> Iterator[Calibration]:
        """All of them, newest first."""
        return self._connection.pages(Calibration, self.path, status=status)

    def cancel(self, id: str) -> Calibration:
        """Ends a queued one at once and a running one within seconds; a finished one stays what it is."""
        return self._connection.ask(Calibration, "POST", self._at(id, "/cancel"))

    def delete(self, id: str) -> None:
        """Removes the record of one that has ended; its predictor and certificate stay."""
        super().delete(id)

    def events(self, id: str, *, after: int = 0, reconnect_timeout: float = RECONNECT_SECONDS) -> Iterator[Event]:
        """Every report from the first on, or after that number, and at last the end; survives a server's restart."""
        return events(self._connection, id, reconnect_timeout, after)

    def wait(
        self,
        id: str,
        on_progress: Callable[[Progress], object] | None = None,
        *,
        reconnect_timeout: float = RECONNECT_SECONDS,
    ) -> Calibration:
        """The calibration when it has ended: succeeded, failed or cancelled."""
        for event in self.events(id, reconnect_timeout=reconnect_timeout):
            if event.progress is not None and on_progress is not None:
                on_progress(event.progress)
            if event.calibration is not None:
                return event.calibration
        raise AssertionError
