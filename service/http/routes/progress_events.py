"""Progress as server-sent events, read from the database: any API replica can tell about any worker."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence

from anyio.to_thread import run_sync
from fastapi import Request
from starlette.responses import StreamingResponse

from certiset.core.errors import UnavailableError
from certiset.core.jobs.views import calibration_resource
from certiset.core.resources import FINISHED
from certiset.core.store.records import Calibration, ReportRecord
from certiset.service.http.access.keys import Caller
from certiset.service.http.problems import ProblemError
from certiset.service.http.state import Service

_POLL_SECONDS = 0.3
_SILENCE_SECONDS = 15.0
"""then a comment is sent, so that nobody on the way takes the connection for dead"""


async def event_stream(service: Service, caller: Caller, id: str, request: Request, seen: int) -> StreamingResponse:
    """Every report after the one that was seen last, and those to come."""
    if service.streams.full(caller.key_id):
        detail = "This key holds too many event streams open: close one first."
        raise ProblemError(429, detail, headers={"Retry-After": "5"})
    record, reports = await run_sync(_look, service, caller.tenant, id, seen)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    events = _events(service, caller, record, reports, request, seen)
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


async def _events(
    service: Service, caller: Caller, record: Calibration, reports: Sequence[ReportRecord], request: Request, seen: int
) -> AsyncIterator[bytes]:
    with service.streams.one_more(caller.key_id):
        yield b"retry: 2000\n\n"
        spoke = time.monotonic()
        while True:
            for report in reports:
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
            if await request.is_disconnected():
                return
            await asyncio.sleep(_POLL_SECONDS)
            try:
                record, reports = await run_sync(_look, service, record.tenant, record.id, seen)
            except UnavailableError:
                # The database restarts; the client need not know.
                reports = ()


def _look(service: Service, tenant: str, id: str, seen: int) -> tuple[Calibration, Sequence[ReportRecord]]:
    with service.store.reading() as work:
        record = work.calibrations.get(tenant, id)
        return record, work.reports.after(id, seen)


def _event(name: str, id: int, data: object) -> bytes:
    return f"event: {name}\nid: {id}\ndata: {json.dumps(data)}\n\n".encode()
