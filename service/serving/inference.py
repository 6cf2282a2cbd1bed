"""Threads that compute sets: tenants take turns, and what one of them has gathered is computed together.

Work is counted in numbers, not rows. On a CPU a little work is done between two turns of the event loop, since handing
it to a thread takes longer; all else goes to the thread of its device. A stranger's graph has a thread of its tenant's
own: it may take its time, or hang until its deadline, and keeps nobody else waiting.
"""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.errors import UnavailableError
from certiset.core.fit import Predictor
from certiset.core.fit.precision import pin_full_precision
from certiset.service.serving.set_requests import InferenceResult, SetRequest, compute
from certiset.service.serving.turns import Piece, Turns
from certiset.service.shares import Shares

SMALL_ROWS = 64
SMALL_NUMBERS = 2**16
"""inputs and outputs of what is computed on the spot; so much is also parsed and written there"""
_SMALL_PRODUCTS = 2**22
"""rows times parameters, likewise: well below a millisecond for one row, a few for many members"""
_QUANTUM = 2**22
"""the price of what a tenant may have computed in one turn"""
_QUANTUM_SECONDS = 0.02
"""how long that should take; a model that is slower has dearer rows"""


class BusyError(UnavailableError):
    """So much of the tenant's is waiting that one more request would only wait for long."""

    code = "busy"
    retry_seconds: ClassVar[int] = 1


class InferenceThread:
    """The thread of one device, or of one tenant's foreign graphs."""

    def __init__(self, device: torch.device, backlog: Shares, name: str = "") -> None:
        self.device = device
        self._backlog = backlog
        # One core is left to the event loop, which has everybody's requests to read and answer.
        self._threads = max(1, torch.get_num_threads() - 1)
        self._gathered: Turns[SetRequest] = Turns(_SMALL_PRODUCTS)
        self._waiting: Turns[SetRequest] = Turns(_QUANTUM)
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name=name or f"inference {device}", daemon=True)
        self._thread.start()

    async def sets_of(
        self, tenant: str, predictor: Predictor, inputs: NDArray[Any], members: NDArray[np.int64]
    ) -> InferenceResult:
        """Raises `BusyError` at once if too much of the tenant's waits. A caller that went away is not computed for."""
        rows = len(inputs)
        loop = asyncio.get_running_loop()
        if self.device.type == "cpu" and _is_small(predictor, rows):
            price = max(predictor.parameters, _SMALL_PRODUCTS / SMALL_ROWS)
            request = SetRequest(tenant, predictor, inputs, members, loop, price)
            if not self._gathered:
                # At the loop's next turn, after everybody who was read in this one.
                loop.call_soon(self._flush, loop)
            self._gathered.add(request)
            return await request.future
        numbers = rows * predictor.row_numbers
        held = self._backlog.take(tenant, numbers)
        if held is None:
            raise BusyError("Too many rows of yours are waiting for their sets: try again in a moment.")
        try:
            request = SetRequest(tenant, predictor, inputs, members, loop, _price(predictor))
            with self._changed:
                self._waiting.add(request)
                self._changed.notify()
            return await request.future
        finally:
            self._backlog.give_back(tenant, held)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()
        # A thread that is stuck ends with the process.
        self._thread.join(timeout=2)

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        compute(self._gathered.next())
        if self._gathered:
            # Whoever was not yet served can wait until others have been read and answered.
            loop.call_soon(self._flush, loop)

    def _loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or bool(self._waiting))
                if self._closed:
                    self._waiting.drop(lambda request: request.fail(BusyError("The service is shutting down.")))
                    return
                pieces = self._waiting.next()
            if pieces:
                self._compute(pieces)

    def _compute(self, pieces: Sequence[Piece[SetRequest]]) -> None:
        if self._threads > 1:
            torch.set_num_threads(self._threads)
        seconds = compute(pieces)
        if self._threads > 1:
            torch.set_num_threads(1)
        paid = sum((piece.end - piece.start) * piece.request.price for piece in pieces)
        cost = _QUANTUM * seconds / _QUANTUM_SECONDS
        for piece in pieces:
            floor = piece.request.predictor.row_numbers
            piece.request.price = max(floor, piece.request.price * cost / paid)
        if cost > paid:
            with self._changed:
                self._waiting.charge(pieces[0].request.tenant, cost - paid)


def _is_small(predictor: Predictor, rows: int) -> bool:
    """Whether computing takes about a millisecond: no backbone, few rows, few numbers, and a head of ordinary size."""
    return (
        rows <= SMALL_ROWS
        and rows * predictor.row_numbers <= SMALL_NUMBERS
        and rows * predictor.parameters <= _SMALL_PRODUCTS
        and predictor.scorer.model.manifest.backbone.is_quick
    )


def _price(predictor: Predictor) -> float:
    """Of a row, before any was computed: its numbers, and one for every 64 products. A backbone's is found out."""
    if not predictor.scorer.model.manifest.backbone.is_quick:
        return max(predictor.row_numbers, _QUANTUM / 256)
    return predictor.row_numbers + predictor.parameters / 64


class InferenceThreads:
    """All devices; a predictor stays on the one that it was loaded to."""

    def __init__(self, devices: Sequence[torch.device], backlog: Shares) -> None:
        self._backlog = backlog
        self._threads = {str(device): InferenceThread(device, backlog) for device in devices}
        self._foreign: dict[tuple[str, str], InferenceThread] = {}
        """by tenant and device"""
        pin_full_precision()
        # For the event loop, which computes small batches: waking other threads takes longer than the work.
        torch.set_num_threads(1)

    @classmethod
    def on(cls, device: str, queue_numbers: int) -> "InferenceThreads":
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        found = [torch.device("cuda", n) for n in range(torch.cuda.device_count())] if device == "cuda" else None
        return cls(found or [torch.device(device)], Shares(queue_numbers))

    @property
    def waiting(self) -> int:
        """numbers that wait or are being computed"""
        return self._backlog.all

    @property
    def is_on_cpu(self) -> bool:
        return all(thread.device.type == "cpu" for thread in self._threads.values())

    def device_for(self, predictor_id: str) -> torch.device:
        places = list(self._threads.values())
        return places[hash(predictor_id) % len(places)].device

    def of(self, tenant: str, predictor: Predictor) -> InferenceThread:
        device = str(predictor.device)
        if not predictor.scorer.model.manifest.backbone.is_foreign:
            return self._threads[device]
        found = self._foreign.get((tenant, device))
        if found is None:
            found = InferenceThread(predictor.device, self._backlog, name=f"inference {device} of a tenant's graphs")
            self._foreign[tenant, device] = found
        return found

    def close(self) -> None:
        for thread in (*self._threads.values(), *self._foreign.values()):
            thread.close()
