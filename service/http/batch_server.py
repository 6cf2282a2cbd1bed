"""The process for large requests: the routes that serve sets, behind a channel instead of a port.

Whoever asks has let the request in and held it to its size. The process ends when the asking one does.
"""

import asyncio
import contextlib
import gc
import logging
import mmap
import os
import socket
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from fastapi import FastAPI
from starlette.types import Message, Scope

from certiset.core.kinds import load_kinds
from certiset.core.settings import Settings
from certiset.service import event_loop
from certiset.service.batches.channel import Channel, write_all
from certiset.service.http.access.keys import Caller
from certiset.service.http.access.requirements import AccessTable
from certiset.service.http.problems import PROBLEM, add_handlers
from certiset.service.http.request_log import log_as_json, request_id, unexpected_problem
from certiset.service.http.routes import inference_protocol, predict_set
from certiset.service.http.state import Service

_NICENESS = 10
"""behind the process that answers everybody: a tenth of a core where there is not enough for both"""
_log = logging.getLogger(__name__)


def main() -> None:
    end = socket.socket(fileno=int(sys.argv[1]))
    event_loop.run(_serve(end))


async def _serve(end: socket.socket) -> None:
    channel = Channel(end)
    hello = await channel.receive()
    if hello is None:
        return
    log_as_json(hello[0]["log_level"])
    _step_back()
    app = _app(Settings.from_environment(hello[0]["settings"]))
    gc.collect()
    gc.freeze()
    try:
        await channel.send({"ready": True})
        running = set()
        while (asked := await channel.receive()) is not None:
            task = asyncio.create_task(_answer(app, channel, *asked))
            running.add(task)
            task.add_done_callback(running.discard)
    except ConnectionError:
        # Whoever asked is gone, and so is this.
        pass
    finally:
        app.state.service.close()


def _step_back() -> None:
    os.nice(_NICENESS)
    if hasattr(os, "SCHED_BATCH"):
        # When it wakes up, it waits for whoever is running, and does not take the processor away from it.
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _app(settings: Settings) -> FastAPI:
    load_kinds()
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    add_handlers(app)
    for router in (predict_set.router, inference_protocol.router):
        app.router.routes.extend(router.routes)
    app.state.access = AccessTable(app.routes)
    service, rows = Service.open(settings), _Rows()
    app.state.rows = rows
    app.state.service = replace(service, sets=replace(service.sets, count_rows=rows.add))
    return app


class _Rows:
    """Rows for which sets were served, since this was last told."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, rows: int) -> None:
        self._count += rows

    def take(self) -> int:
        count, self._count = self._count, 0
        return count


async def _answer(app: FastAPI, channel: Channel, asked: dict[str, Any], body: int | None) -> None:
    request_id.set(asked["request_id"])
    file = os.memfd_create("answer", os.MFD_CLOEXEC)
    scope = _scope(asked)
    start: Message = {}

    async def send(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            start = message
        else:
            write_all(file, [message.get("body", b"")])

    try:
        try:
            await app(scope, _receive(body), send)
        except Exception:
            _log.exception("unexpected error")
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            await unexpected_problem()(scope, _receive(None), send)
        answer = {
            "id": asked["id"],
            "status": start["status"],
            "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in start["headers"]],
            "rows": app.state.rows.take(),
            "problem": scope["state"].get(PROBLEM),
            "route": getattr(scope.get("route"), "path", "other"),
        }
        await channel.send(answer, file if os.fstat(file).st_size else None)
    finally:
        os.close(file)


def _scope(asked: dict[str, Any]) -> Scope:
    caller = asked["caller"]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": asked["path"],
        "raw_path": asked["path"].encode(),
        "root_path": "",
        "query_string": asked["query"].encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in asked["headers"]],
        "client": None,
        "server": None,
        "state": {"caller": Caller(caller["key_id"], caller["tenant"], frozenset(caller["scopes"]))},
    }


def _receive(body: int | None) -> Callable[[], Coroutine[Any, Any, Message]]:
    content = b""
    if body is not None:
        try:
            if os.fstat(body).st_size:
                with mmap.mmap(body, 0, prot=mmap.PROT_READ) as memory:
                    content = memory[:]
        finally:
            os.close(body)

    async def receive() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    return receive


if __name__ == "__main__":
    main()
