"""What came true."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from certiset.core.monitor_resources import OutcomesCounted, OutcomeState
from certiset.service.client.connection import Connection, part

_PIECE = 10_000


class Outcomes:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def report(self, outcomes: Iterable[tuple[str, Any]]) -> OutcomesCounted:
        """Pairs of a prediction's id and the truth: a label, a number or a vector. Each counts once, however often."""
        given = [{"prediction_id": id, "y": np.asarray(y, dtype=np.float64).tolist()} for id, y in outcomes]
        parts = [self._send(given[start : start + _PIECE]) for start in range(0, len(given), _PIECE)]
        return OutcomesCounted(
            counted=sum(part.counted for part in parts),
            repeated=sum(part.repeated for part in parts),
            replayed=sum(part.replayed for part in parts),
            covered=tuple(inside for part in parts for inside in part.covered),
        )

    def correct(self, prediction_id: str, y: Any) -> OutcomeState:
        """Another truth for a prediction whose outcome was reported; the verdict is reconsidered."""
        body = {"y": np.asarray(y, dtype=np.float64).tolist()}
        return self._connection.ask(OutcomeState, "PATCH", f"/outcomes/{part(prediction_id)}", json=body)

    def annul(self, prediction_id: str) -> None:
        """No truth at all for it, because the one that was reported was wrong; the verdict is reconsidered."""
        self._connection.send("DELETE", f"/outcomes/{part(prediction_id)}", again=False)

    def _send(self, outcomes: Sequence[dict[str, Any]]) -> OutcomesCounted:
        return self._connection.ask(OutcomesCounted, "POST", "/outcomes", json={"outcomes": outcomes})
