"""One inference thread per device. It never waits for company: what gathered while it was busy is computed together."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.errors import CertisetError, UnavailableError
from certiset.core.fit import Predictor
from certiset.core.sets import PredictionSets

_LARGEST_BATCH = 4096
"""rows that the thread gathers at most"""
_SMALL_BATCH = 64
"""rows that are computed on the spot: handing them to a thread takes longer than computing them"""
_QUICK_HEAD = 500_000
"""parameters"""


class BusyError(UnavailableError):
    """So many rows are waiting that one more request would only wait for long."""

    code = "busy"
    retry_seconds: ClassVar[int] = 1


@dataclass
class InferenceResult:
    sets: PredictionSets
    waited: float
    """seconds in the queue"""
    computed: float
    """seconds of the batch that the request was part of"""


@dataclass
class _Request:
    predictor: Predictor
    inputs: NDArray[Any]
    members: NDArray[np.int64]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[InferenceResult]"
    asked: float = field(default_factory=time.perf_counter)


class InferenceThread:
    """The queue of one device.

    Rows that gather are computed together, by predictor. On a CPU a few rows are computed between two turns of the
    event loop, since Python's lock makes a thread no quicker; all else goes to the thread.
    """

    def __init__(self, device: torch.device, max_rows: int) -> None:
        self.device = device
        self._max_rows = max_rows
        self._rows = 0
        """waiting or being computed; written by the event loop alone"""
        self._threads = torch.get_num_threads()
        if device.type == "cpu":
            # For the event loop, which computes small batches: waking other threads takes longer than the work.
            torch.set_num_threads(1)
        self._gathered: list[_Request] = []
        self._waiting: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._loop, name=f"inference {device}", daemon=True)
        self._thread.start()

    @property
    def rows(self) -> int:
        """Waiting or being computed."""
        return self._rows

    async def sets_of(self, predictor: Predictor, inputs: NDArray[Any], members: NDArray[np.int64]) -> InferenceResult:
        """Raises `BusyError` at once if the queue is full. A caller that is cancelled is not computed for."""
        rows = len(inputs)
        if self._rows and self._rows + rows > self._max_rows:
            raise BusyError("Too many rows are waiting: try again in a moment.")
        loop = asyncio.get_running_loop()
        request = _Request(predictor, inputs, members, loop, loop.create_future())
        self._rows += rows
        if rows > _SMALL_BATCH or self.device.type != "cpu" or not _is_quick(predictor):
            self._waiting.put(request)
        else:
            if not self._gathered:
                # At the loop's next turn, after everybody who was read in this one.
                loop.call_soon(self._flush)
            self._gathered.append(request)
        try:
            return await request.future
        finally:
            self._rows -= rows

    def close(self) -> None:
        self._waiting.put(None)
        # A thread that is stuck ends with the process.
        self._thread.join(timeout=2)

    def _flush(self) -> None:
        batch, self._gathered = self._gathered, []
        start = rows = 0
        for place, request in enumerate(batch):
            rows += len(request.inputs)
            if rows > _SMALL_BATCH:
                _compute_all(batch[start:place])
                start, rows = place, len(request.inputs)
        _compute_all(batch[start:])

    def _loop(self) -> None:
        while True:
            first = self._waiting.get()
            if first is None:
                return
            batch, rows = [first], len(first.inputs)
            ended = False
            while rows < _LARGEST_BATCH:
                try:
                    other = self._waiting.get_nowait()
                except queue.Empty:
                    break
                if other is None:
                    ended = True
                    break
                batch.append(other)
                rows += len(other.inputs)
            torch.set_num_threads(self._threads)
            _compute_all(batch)
            torch.set_num_threads(1)
            if ended:
                return


def _is_quick(predictor: Predictor) -> bool:
    """Whether a few rows take well below a millisecond: no backbone, and a head of ordinary size."""
    model = predictor.scorer.model
    return model.manifest.backbone.is_quick and predictor.theta.shape[1] + len(model.head_parameters) < _QUICK_HEAD


def _compute_all(batch: list[_Request]) -> None:
    groups: dict[int, list[_Request]] = {}
    for request in batch:
        if not request.future.cancelled():
            groups.setdefault(id(request.predictor), []).append(request)
    for group in groups.values():
        try:
            _compute(group)
        except CertisetError as error:
            if len(group) == 1:
                _fail(group[0], error)
                continue
            # One request's rows are at fault; the others must not suffer for it.
            for request in group:
                _compute_all([request])
        except Exception as error:
            for request in group:
                _fail(request, error)


def _compute(group: list[_Request]) -> None:
    begin = time.perf_counter()
    if len(group) == 1:
        sets = group[0].predictor.sets_of(group[0].inputs, group[0].members)
    else:
        inputs = np.concatenate([request.inputs for request in group])
        members = np.concatenate([request.members for request in group])
        sets = group[0].predictor.sets_of(inputs, members)
    computed = time.perf_counter() - begin
    start = 0
    for request in group:
        end = start + len(request.inputs)
        own = sets if len(group) == 1 else sets.take(slice(start, end))
        _succeed(request, InferenceResult(own, begin - request.asked, computed))
        start = end


class InferenceThreads:
    """All devices; a predictor stays on the one that it was loaded to."""

    def __init__(self, threads: Sequence[InferenceThread]) -> None:
        self._threads = {str(thread.device): thread for thread in threads}

    @classmethod
    def on(cls, device: str, max_rows: int) -> "InferenceThreads":
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        found = [torch.device("cuda", n) for n in range(torch.cuda.device_count())] if device == "cuda" else None
        return cls([InferenceThread(place, max_rows) for place in found or [torch.device(device)]])

    @property
    def rows(self) -> int:
        """Waiting or being computed, on all devices."""
        return sum(thread.rows for thread in self._threads.values())

    def device_for(self, predictor_id: str) -> torch.device:
        places = list(self._threads.values())
        return places[hash(predictor_id) % len(places)].device

    def of(self, predictor: Predictor) -> InferenceThread:
        return self._threads[str(predictor.device)]

    def close(self) -> None:
        for thread in self._threads.values():
            thread.close()


def _succeed(request: _Request, result: InferenceResult) -> None:
    def tell() -> None:
        if not request.future.done():
            request.future.set_result(result)

    _call(request, tell)


def _fail(request: _Request, error: Exception) -> None:
    def tell() -> None:
        if not request.future.done():
            request.future.set_exception(error)

    _call(request, tell)


def _call(request: _Request, action: Callable[[], None]) -> None:
    # A closed event loop means that nobody is waiting any more.
    with contextlib.suppress(RuntimeError):
        request.loop.call_soon_threadsafe(action)
