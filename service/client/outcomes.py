"""What came true."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from certiset.core.monitor_resources import OutcomesCounted, OutcomeState
from certiset.core.resources import FieldProblem
from certiset.service.client.connection import Connection, part
from certiset.service.client.errors import ApiError

_PIECE = 10_000
_PIECE_BYTES = 900_000
"""servers take a megabyte at a time"""
_PLACE = re.compile(r"outcomes\.(\d+)\.")


class Outcomes:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def report(self, outcomes: Iterable[tuple[str, Any] | tuple[str, Any, Any]]) -> OutcomesCounted:
        """Pairs of a prediction's id and the truth: a class or its name, a number or a vector.

        Each counts once, however often. A third value is the input that was asked, again: a row for the next predictor
        of its deployment. Many are sent in several requests; where one is refused, those before it are counted.
        """
        given = [_as_json(*outcome) for outcome in outcomes]
        parts = [self._send(given[start:end], start) for start, end in _pieces(given)]
        return OutcomesCounted(
            counted=sum(part.counted for part in parts),
            repeated=sum(part.repeated for part in parts),
            replayed=sum(part.replayed for part in parts),
            covered=tuple(inside for part in parts for inside in part.covered),
            collected=sum(part.collected for part in parts),
        )

    def correct(self, prediction_id: str, y: Any) -> OutcomeState:
        """Another truth for a prediction whose outcome was reported; the verdict is reconsidered."""
        body = {"y": _truth(y)}
        return self._connection.ask(OutcomeState, "PATCH", f"/outcomes/{part(prediction_id)}", json=body)

    def annul(self, prediction_id: str) -> None:
        """No truth at all for it, because the one that was reported was wrong; the verdict is reconsidered."""
        self._connection.send("DELETE", f"/outcomes/{part(prediction_id)}", again=False)

    def _send(self, outcomes: Sequence[dict[str, Any]], start: int) -> OutcomesCounted:
        try:
            return self._connection.ask(OutcomesCounted, "POST", "/outcomes", json={"outcomes": outcomes})
        except ApiError as error:
            error.errors = tuple(_counted_from(start, one) for one in error.errors)
            raise


def _as_json(id: str, y: Any, x: Any = None) -> dict[str, Any]:
    brought = {} if x is None else {"x": np.asarray(x, dtype=np.float64).reshape(-1).tolist()}
    return {"prediction_id": id, "y": _truth(y), **brought}


def _truth(y: Any) -> Any:
    return str(y) if isinstance(y, str) else np.asarray(y, dtype=np.float64).tolist()


def _pieces(outcomes: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """Where each request begins and ends: ids differ in length by what is in their sets."""
    start, size = 0, 0
    for place, outcome in enumerate(outcomes):
        length = len(json.dumps(outcome)) + 2
        if place > start and (place - start == _PIECE or size + length > _PIECE_BYTES):
            yield start, place
            start, size = place, 0
        size += length
    if outcomes:
        yield start, len(outcomes)


def _counted_from(start: int, problem: FieldProblem) -> FieldProblem:
    """The place in the whole report, not in the request."""
    where = _PLACE.sub(lambda found: f"outcomes.{int(found[1]) + start}.", problem.where, count=1)
    return problem.model_copy(update={"where": where})
