"""Large requests for sets go to a process of their own: here their bytes pass through, and nothing else is done."""

import mmap
import os
from types import SimpleNamespace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from certiset.core.graphs.confined_graph import GraphDiedError
from certiset.core.sandbox import SandboxError
from certiset.service.batches.batch_process import BatchLostError
from certiset.service.batches.channel import write_all
from certiset.service.http.access.requirements import AccessTable
from certiset.service.http.bodies import ON_THE_SPOT
from certiset.service.http.body_limit import declared_length
from certiset.service.http.long_answers import send_in_pieces
from certiset.service.http.problems import PROBLEM, problem_of, problem_response
from certiset.service.http.request_log import request_id
from certiset.service.http.state import Service

_SECRET = (b"authorization", b"x-api-key", b"cookie")
"""headers that have done what they are for"""
_DEATHS = {SandboxError.code: "body", GraphDiedError.code: "graph"}
"""by problem, for what a confined process of the other process was that died: only this one's metrics are read"""
_LOT = 2**20
"""bytes that are copied at once"""


class BatchForwarding:
    """Stands behind the gate and the limit of bodies: what comes here is let in."""

    def __init__(self, app: ASGIApp, access: AccessTable) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._is_batch(scope):
            await self._app(scope, receive, send)
            return
        service: Service = scope["app"].state.service
        if not service.batches.is_ready:
            service.batches.wake()
            await self._app(scope, receive, send)
            return
        try:
            answer, descriptor = await _ask(service, scope, receive)
        except BatchLostError as error:
            await problem_of(error)(scope, receive, send)
            return
        except HTTPException as error:
            headers = dict(error.headers or {})
            await problem_response(error.status_code, str(error.detail), headers=headers)(scope, receive, send)
            return
        service.metrics.rows.inc(answer["rows"])
        if answer["problem"] is not None:
            scope["state"][PROBLEM] = answer["problem"]
            if answer["problem"] in _DEATHS:
                service.metrics.confined_process_died(_DEATHS[answer["problem"]])
        # What the log and the metrics call it.
        scope["route"] = SimpleNamespace(path=answer["route"])
        await _send(answer, descriptor, send)

    def _is_batch(self, scope: Scope) -> bool:
        return (
            scope["method"] == "POST"
            and declared_length(scope) > ON_THE_SPOT
            and self._access.of("POST", scope["path"]).in_batches
        )


async def _ask(service: Service, scope: Scope, receive: Receive) -> tuple[dict[str, Any], int | None]:
    caller = scope["state"]["caller"]
    asked = {
        "path": scope["path"],
        "query": scope["query_string"].decode("latin-1"),
        "headers": [
            [name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"] if name not in _SECRET
        ],
        "caller": {"key_id": caller.key_id, "tenant": caller.tenant, "scopes": sorted(caller.scopes)},
        "request_id": request_id.get(),
    }
    return await service.batches.ask(asked, await _kept(service, caller.tenant, receive))


async def _kept(service: Service, tenant: str, receive: Receive) -> int:
    """A file in memory with the body, which a thread copies there: meanwhile the event loop reads for others."""
    descriptor = os.memfd_create("body", os.MFD_CLOEXEC)
    pieces: list[bytes] = []
    try:
        while True:
            message: Message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            pieces.append(message.get("body", b""))
            more = message.get("more_body", False)
            if not more or sum(map(len, pieces)) >= _LOT:
                await service.sets.in_thread(tenant, write_all, descriptor, pieces)
                pieces = []
            if not more:
                return descriptor
    except BaseException:
        os.close(descriptor)
        raise


async def _send(answer: dict[str, Any], descriptor: int | None, send: Send) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer["headers"]]
    await send({"type": "http.response.start", "status": answer["status"], "headers": headers})
    if descriptor is None:
        await send_in_pieces([], send)
        return
    try:
        with mmap.mmap(descriptor, 0, prot=mmap.PROT_READ) as content:
            await send_in_pieces([content], send)
    finally:
        os.close(descriptor)
