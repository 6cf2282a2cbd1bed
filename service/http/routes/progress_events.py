"""Progress as server-sent events, read from the database: any API replica can tell about any worker."""

import json
import time
from collections.abc import AsyncIterator, Callable

from fastapi import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from certiset.core.jobs.views import calibration_resource
from certiset.core.resources import FINISHED
from certiset.service.http.access.keys import Caller
from certiset.service.http.problems import ProblemError
from certiset.service.http.progress_feed import ProgressFeed
from certiset.service.http.state import Service

_LOOK_SECONDS = 1.0
"""how often it is asked whether the client is still there"""
_SILENCE_SECONDS = 15.0
"""then a comment is sent, so that nobody on the way takes the connection for dead"""
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def event_stream(service: Service, caller: Caller, id: str, request: Request, seen: int) -> StreamingResponse:
    """Every report after the one that was seen last, and those to come."""
    if not service.streams.take(caller.key_id):
        detail = "This key holds too many event streams open: close one first."
        raise ProblemError(429, detail, headers={"Retry-After": "5"})
    try:
        feed = await service.feeds.join(caller.tenant, id)
    except BaseException:
        service.streams.give_back(caller.key_id)
        raise

    def leave() -> None:
        service.feeds.leave(caller.tenant, id, feed)
        service.streams.give_back(caller.key_id)

    return _Stream(_events(feed, request, seen), leave)


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


async def _events(feed: ProgressFeed, request: Request, seen: int) -> AsyncIterator[bytes]:
    yield b"retry: 2000\n\n"
    spoke = time.monotonic()
    while True:
        record = feed.record
        for report in feed.after(seen):
            seen = report.number
            yield _event("progress", seen, {"status": "running", **report.report})
            spoke = time.monotonic()
        if record.status in FINISHED:
            # One more than any report, so that a client that comes back after it knows that there is nothing more.
            yield _event("done", record.reports + 1, calibration_resource(record).model_dump(mode="json"))
            return
        if time.monotonic() - spoke > _SILENCE_SECONDS:
            yield b": still here\n\n"
            spoke = time.monotonic()
        if feed.is_over or await request.is_disconnected():
            return
        await feed.change(_LOOK_SECONDS)


def _event(name: str, id: int, data: object) -> bytes:
    return f"event: {name}\nid: {id}\ndata: {json.dumps(data)}\n\n".encode()
