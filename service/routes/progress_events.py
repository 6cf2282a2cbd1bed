"""Progress as server-sent events, read from the database: any API replica can tell about any worker."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

from anyio.to_thread import run_sync
from fastapi import Request
from starlette.responses import StreamingResponse

from core.store.errors import TRANSIENT
from core.store.records import FINISHED, Calibration
from service.shapes import calibration_json
from service.state import Service

_POLL_SECONDS = 0.3
_SILENCE_SECONDS = 15.0
"""then a comment is sent, so that nobody on the way takes the connection for dead"""


async def event_stream(service: Service, tenant: str, id: str, request: Request, seen: int) -> StreamingResponse:
    first = await run_sync(_look, service, tenant, id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(service, first, request, seen), media_type="text/event-stream", headers=headers)


async def _events(service: Service, record: Calibration, request: Request, seen: int) -> AsyncIterator[bytes]:
    yield b"retry: 2000\n\n"
    spoke = time.monotonic()
    while True:
        if record.status in FINISHED:
            # One more than any report, so that a client that comes back after it knows that there is nothing more.
            yield _event("done", record.reports + 1, calibration_json(record))
            return
        if record.reports > seen and record.progress is not None:
            seen = record.reports
            yield _event("progress", seen, {"status": record.status, **record.progress})
            spoke = time.monotonic()
        elif time.monotonic() - spoke > _SILENCE_SECONDS:
            yield b": still here\n\n"
            spoke = time.monotonic()
        if await request.is_disconnected():
            return
        await asyncio.sleep(_POLL_SECONDS)
        try:
            record = await run_sync(_look, service, record.tenant, record.id)
        except TRANSIENT:
            # The database restarts; the client need not know.
            continue


def _look(service: Service, tenant: str, id: str) -> Calibration:
    with service.store.reading() as work:
        return work.calibrations.get(tenant, id)


def _event(name: str, id: int, data: object) -> bytes:
    return f"event: {name}\nid: {id}\ndata: {json.dumps(data)}\n\n".encode()
