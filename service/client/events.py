"""Server-sent events, from a stream that may break and is then resumed where it ended."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from certiset.core.resources import Calibration, Progress
from certiset.service.client.connection import Connection, part
from certiset.service.client.errors import ApiError

_SILENCE = 45.0
"""seconds without a byte after which the connection is taken for dead; the server speaks every 15"""
_PAUSE = 0.5
_LONGEST_PAUSE = 5.0
_PASSING = (429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Event:
    number: int
    """grows with every event of a calibration"""
    progress: Progress | None = None
    calibration: Calibration | None = None
    """as it ended; only the last event has it, and no progress"""


def events(connection: Connection, id: str, reconnect_timeout: float, after: int = 0) -> Iterator[Event]:
    """All events after that number; the last one says how it ended.

    A stream that breaks is resumed; only when nobody has answered for ``reconnect_timeout`` seconds is that an error.
    A server that does not answer the first try is an error at once.
    """
    for name, number, data in resumed(connection, f"/calibrations/{part(id)}/events", reconnect_timeout, after):
        event = _event(name, number, data)
        if event is not None:
            yield event
            if event.calibration is not None:
                return


def resumed(
    connection: Connection, path: str, reconnect_timeout: float, after: int = 0
) -> Iterator[tuple[str, int, str]]:
    """Name, number and data of each event after that number, without end."""
    answered: float | None = None
    pause = _PAUSE
    while True:
        try:
            with connection.stream(path, {"Last-Event-ID": str(after)}, _SILENCE) as response:
                answered, pause = time.monotonic(), _PAUSE
                for event in _parsed(response.iter_lines()):
                    answered, after = time.monotonic(), event[1]
                    yield event
        except httpx.TransportError:
            if answered is None or time.monotonic() - answered > reconnect_timeout:
                with connection.explained():
                    raise
        except ApiError as error:
            if answered is None or error.status not in _PASSING or time.monotonic() - answered > reconnect_timeout:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _parsed(lines: Iterator[str]) -> Iterator[tuple[str, int, str]]:
    name, number, data = "", 0, ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "id":
            number = int(value)
        elif field == "data":
            data = value
        elif not line and data:
            yield name, number, data
            name, data = "", ""


def _event(name: str, number: int, data: str) -> Event | None:
    """None for a kind that a newer server may send."""
    content = json.loads(data)
    if name == "progress":
        return Event(number, progress=Progress.model_validate(content))
    if name == "done":
        return Event(number, calibration=Calibration.model_validate(content))
    return None
