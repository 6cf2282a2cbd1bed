"""Connections that send nothing, or too slowly, are closed, and no address holds so many that others find none.

A request's headers have a deadline, its body a pace, an answer that is not taken and a connection without requests an
end. Over a cap, the connection that has waited longest for a request makes room for the new one; if all of them are
being answered, the new one is refused with 503. One look a second at all connections costs less than a timer for each.
"""

import asyncio
import logging
import resource
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from certiset.core.settings import Settings
from certiset.service.http.problems import PROBLEM, REFUSED, code_of, problem_response

IDLE_SECONDS = 30
_LOOK_SECONDS = 1.0
_MOST_FILES = 2**16
_RESERVED_FILES = 256
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConnectionLimits:
    header_seconds: float
    """from the connection, or the first byte after another request, to the end of the headers"""
    body_seconds: float
    """for a body, and a second more for each `body_pace` bytes of it"""
    body_pace: int
    idle_seconds: float
    """between two requests"""
    total: int
    """connections"""
    per_address: int
    """connections; 0: no cap"""


_IDLE, _HEADERS, _BODY, _ANSWER = range(4)
"""what a connection waits for: a request, the rest of its headers, the rest of its body, or its answer"""


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's connection, which also knows how far its request has come."""

    room: "Room"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.phase, self.since, self.received, self.unsent = _HEADERS, self.loop.time(), 0, 0

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.room.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.room.leave(self)
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self.phase == _IDLE:
            self.phase, self.since = _HEADERS, self.loop.time()

    def on_headers_complete(self) -> None:
        self.phase, self.since, self.received = _BODY, self.loop.time(), 0
        self.room.busy(self)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self.received += len(body)
        if self.cycle is not None and not self.cycle.body:
            # Bytes added to no bytes are not copied, nor when they are handed on; uvicorn's array is, both times.
            self.cycle.body = b""  # type: ignore[assignment]
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.phase, self.since = _ANSWER, self.loop.time()
        if self.cycle.response_complete:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.phase == _ANSWER and self.cycle.response_complete:
            self._wait()

    def _wait(self) -> None:
        self.phase, self.since = _IDLE, self.loop.time()
        self.room.waits(self)

    def refuse(self, status: int, detail: str) -> None:
        """Answers, if nothing was answered yet, and closes."""
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            answer = problem_response(status, detail, headers={"Connection": "close", "Retry-After": "1"})
            lines = [STATUS_LINE[status], *(b"%s: %s\r\n" % header for header in answer.raw_headers), b"\r\n"]
            self.transport.write(b"".join([*lines, bytes(answer.body)]))
        if self.cycle is not None:
            # What the app still sends would follow on an answer that is complete.
            self.cycle.disconnected = True
            self.cycle.scope["state"] |= {REFUSED: status, PROBLEM: code_of(status)}
            self.cycle.message_event.set()
        self.transport.close()


def open_file_limit() -> int:
    """Raises the number of files that this process may open as far as it may, and returns it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft if soft != resource.RLIM_INFINITY else _MOST_FILES


def limited_protocol(settings: Settings) -> type[LimitedProtocol]:
    """For uvicorn: connections that share one room. Some files are kept back for the database, uploads and the rest."""
    files = open_file_limit()
    shared = Room(
        ConnectionLimits(
            header_seconds=settings.header_seconds,
            body_seconds=settings.body_seconds,
            body_pace=settings.body_pace,
            idle_seconds=IDLE_SECONDS,
            total=min(settings.max_connections or files, max(files - _RESERVED_FILES, files // 2)),
            per_address=settings.max_connections_per_address,
        )
    )

    class InRoom(LimitedProtocol):
        room = shared

    return InRoom


class Room:
    """All connections of a process. Used from the event loop alone."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._all: set[LimitedProtocol] = set()
        self._of_address: defaultdict[str, set[LimitedProtocol]] = defaultdict(set)
        # Those without a complete request, the longest waiting first.
        self._waiting: OrderedDict[LimitedProtocol, None] = OrderedDict()
        self._waiting_of: defaultdict[str, OrderedDict[LimitedProtocol, None]] = defaultdict(OrderedDict)
        self._look: asyncio.TimerHandle | None = None

    def enter(self, connection: LimitedProtocol) -> None:
        limits, address = self._limits, connection.address
        own = self._of_address[address]
        full = limits.per_address and len(own) >= limits.per_address and not self._displace(self._waiting_of[address])
        full = full or (len(self._all) >= limits.total and not self._displace(self._waiting))
        self._all.add(connection)
        own.add(connection)
        self.waits(connection)
        if self._look is None:
            self._look = connection.loop.call_later(_LOOK_SECONDS, self._look_at_all, connection.loop)
        if full:
            connection.refuse(503, "Too many connections are open: try again in a moment.")

    def leave(self, connection: LimitedProtocol) -> None:
        address = connection.address
        self.busy(connection)
        self._all.discard(connection)
        own = self._of_address[address]
        own.discard(connection)
        if not own:
            del self._of_address[address]
            self._waiting_of.pop(address, None)

    def waits(self, connection: LimitedProtocol) -> None:
        self._waiting[connection] = self._waiting_of[connection.address][connection] = None

    def busy(self, connection: LimitedProtocol) -> None:
        self._waiting.pop(connection, None)
        self._waiting_of[connection.address].pop(connection, None)

    def _displace(self, waiting: "OrderedDict[LimitedProtocol, None]") -> bool:
        """Closes the connection that has waited longest, if there is one."""
        longest = next(iter(waiting), None)
        if longest is None:
            return False
        # Without a word, which it may not take, and at once: its place is needed now.
        longest.transport.abort()
        self.leave(longest)
        return True

    def _look_at_all(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        closed = sum(self._has_ended(connection, now) for connection in list(self._all))
        if closed:
            _log.warning("closed %s connections that were silent or too slow", closed)
        self._look = loop.call_later(_LOOK_SECONDS, self._look_at_all, loop) if self._all else None

    def _has_ended(self, connection: LimitedProtocol, now: float) -> bool:
        limits, took = self._limits, now - connection.since
        if connection.transport.is_closing():
            if took > limits.body_seconds:
                connection.transport.abort()
        elif connection.phase == _IDLE:
            if took > limits.idle_seconds:
                connection.transport.close()
        elif connection.phase == _HEADERS:
            if took > limits.header_seconds:
                connection.refuse(408, "The request's headers did not arrive in time.")
                return True
        elif connection.phase == _BODY:
            if connection.flow.read_paused or connection.cycle.waiting_for_100_continue:
                # It is the server that does not read.
                connection.since += _LOOK_SECONDS
            elif took > limits.body_seconds + connection.received / limits.body_pace:
                connection.refuse(408, "The request's body arrives too slowly.")
                return True
        else:
            return self._takes_no_answer(connection, now)
        return False

    def _takes_no_answer(self, connection: LimitedProtocol, now: float) -> bool:
        unsent = connection.transport.get_write_buffer_size()
        if not unsent or unsent != connection.unsent:
            connection.unsent, connection.since = unsent, now
        elif now - connection.since > self._limits.body_seconds:
            connection.transport.abort()
            return True
        return False
