"""Server-sent events: a stream has a place among those of its key, and leaves it however it ends."""

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from certiset.service.http.access.keys import Caller
from certiset.service.http.feeds import Feed, Feeds
from certiset.service.http.problems import ProblemError
from certiset.service.http.state import Service

LOOK_SECONDS = 1.0
"""how often it is asked whether the client is still there"""
START = b"retry: 2000\n\n"
_SILENCE_SECONDS = 15.0
"""then a comment is sent, so that nobody on the way takes the connection for dead"""
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

F = TypeVar("F", bound=Feed)


async def stream_of(
    service: Service, caller: Caller, feeds: Feeds[F], id: str, events: Callable[[F], AsyncIterator[bytes]]
) -> StreamingResponse:
    """The events of one feed, which is left when the stream ends."""
    if not service.streams.take(caller.key_id):
        detail = "This key holds too many event streams open: close one first."
        raise ProblemError(429, detail, headers={"Retry-After": "5"})
    try:
        feed = await feeds.join(caller.tenant, id)
    except BaseException:
        service.streams.give_back(caller.key_id)
        raise

    def leave() -> None:
        feeds.leave(caller.tenant, id, feed)
        service.streams.give_back(caller.key_id)

    return _Stream(events(feed), leave)


class _Stream(StreamingResponse):
    """Leaves its place however it ends: a generator that never began has no end of its own."""

    def __init__(self, events: AsyncIterator[bytes], leave: Callable[[], None]) -> None:
        super().__init__(events, media_type="text/event-stream", headers=_HEADERS)
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


class Silence:
    """How long nothing was said."""

    def __init__(self) -> None:
        self._spoke = time.monotonic()

    def broken(self) -> None:
        self._spoke = time.monotonic()

    def comment(self) -> bytes:
        """Something to say if it was silent for too long, or nothing."""
        if time.monotonic() - self._spoke <= _SILENCE_SECONDS:
            return b""
        self.broken()
        return b": still here\n\n"


def event_text(name: str, id: int, data: object) -> bytes:
    return f"event: {name}\nid: {id}\ndata: {json.dumps(data)}\n\n".encode()
