"""Progress as server-sent events, read from the database: any API replica can tell about any worker."""

from collections.abc import AsyncIterator

from fastapi import Request
from starlette.responses import StreamingResponse

from certiset.core.jobs.views import calibration_resource
from certiset.core.resources import FINISHED
from certiset.service.http.access.keys import Caller
from certiset.service.http.event_streams import LOOK_SECONDS, START, Silence, event_text, stream_of
from certiset.service.http.progress_feed import ProgressFeed
from certiset.service.http.state import Service


async def event_stream(service: Service, caller: Caller, id: str, request: Request, seen: int) -> StreamingResponse:
    """Every report after the one that was seen last, and those to come."""
    return await stream_of(service, caller, service.feeds, id, lambda feed: _events(feed, request, seen))


async def _events(feed: ProgressFeed, request: Request, seen: int) -> AsyncIterator[bytes]:
    yield START
    silence = Silence()
    while True:
        record = feed.record
        for report in feed.after(seen):
            seen = report.number
            yield event_text("progress", seen, {"status": "running", **report.report})
            silence.broken()
        if record.status in FINISHED:
            # One more than any report, so that a client that comes back after it knows that there is nothing more.
            yield event_text("done", record.reports + 1, calibration_resource(record).model_dump(mode="json"))
            return
        if comment := silence.comment():
            yield comment
        if feed.is_over or await request.is_disconnected():
            return
        await feed.change(LOOK_SECONDS)
