"""Requests for sets while they are computed: together with others, and in pieces that are put together at the end."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.errors import CertisetError
from certiset.core.fit import Predictor
from certiset.core.sets import PredictionSets
from certiset.service.serving.turns import Piece

_IN_ORDER = 1024
"""rows that are computed in the order in which they came"""


@dataclass
class InferenceResult:
    sets: PredictionSets
    waited: float
    """seconds until the first row was computed"""
    computed: float
    """seconds of the batches that the request was part of"""


@dataclass(eq=False)
class SetRequest:
    tenant: str
    predictor: Predictor
    inputs: NDArray[Any]
    members: NDArray[np.int64]
    loop: asyncio.AbstractEventLoop
    price: float
    """of one row, for its turns"""
    asked: float = field(default_factory=time.perf_counter)
    future: "asyncio.Future[InferenceResult]" = field(init=False)
    waited: float = 0.0
    computed: float = 0.0
    _order: NDArray[np.int64] | None = None
    _parts: list[PredictionSets] = field(default_factory=list)
    _left: int = field(init=False)
    _failed: bool = False
    _thread: int = field(default_factory=threading.get_ident)
    """of the event loop, which asks"""

    def __post_init__(self) -> None:
        self.future = self.loop.create_future()
        self._left = len(self.inputs)

    @property
    def rows(self) -> int:
        return len(self.inputs)

    @property
    def is_over(self) -> bool:
        return self._failed or self.future.cancelled()

    def part(self, start: int, end: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Inputs and members of these rows. Many rows go by their members, so that a piece has few of them."""
        if self.rows <= _IN_ORDER:
            return self.inputs[start:end], self.members[start:end]
        if self._order is None:
            self._order = np.argsort(self.members, kind="stable")
        rows = self._order[start:end]
        return self.inputs[rows], self.members[rows]

    def add(self, sets: PredictionSets, begun: float, seconds: float) -> None:
        """The next rows' sets; with the last ones the caller gets them all."""
        if not self._parts:
            self.waited = begun - self.asked
        self._parts.append(sets)
        self._left -= len(sets)
        self.computed += seconds
        if not self._left:
            whole = sets if len(self._parts) == 1 else type(sets).joined(self._parts)
            if self._order is not None:
                whole = whole.take(np.argsort(self._order, kind="stable"))
            result = InferenceResult(whole, self.waited, self.computed)
            self._tell(lambda: self.future.set_result(result))

    def fail(self, error: Exception) -> None:
        self._failed = True
        self._tell(lambda: self.future.set_exception(error))

    def _tell(self, action: Callable[[], None]) -> None:
        def tell() -> None:
            if not self.future.done():
                action()

        if threading.get_ident() == self._thread:
            # Nobody has to be woken, which takes longer than a small set.
            tell()
            return
        # A closed event loop means that nobody is waiting any more.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(tell)


def compute(pieces: Sequence[Piece[SetRequest]]) -> float:
    """Computes them, those of one predictor together; the seconds that it took."""
    begun = time.perf_counter()
    groups: dict[int, list[Piece[SetRequest]]] = {}
    for piece in pieces:
        if not piece.request.is_over:
            groups.setdefault(id(piece.request.predictor), []).append(piece)
    for group in groups.values():
        try:
            _compute(group)
        except CertisetError as error:
            if len(group) == 1:
                group[0].request.fail(error)
                continue
            # One request's rows are at fault; the others must not suffer for it.
            for piece in group:
                compute([piece])
        except Exception as error:
            for piece in group:
                piece.request.fail(error)
    return time.perf_counter() - begun


def _compute(group: Sequence[Piece[SetRequest]]) -> None:
    begun = time.perf_counter()
    predictor, parts = group[0].request.predictor, [piece.request.part(piece.start, piece.end) for piece in group]
    if len(group) == 1:
        sets = predictor.sets_of(*parts[0])
    else:
        inputs, members = zip(*parts, strict=True)
        sets = predictor.sets_of(np.concatenate(inputs), np.concatenate(members))
    seconds = time.perf_counter() - begun
    start = 0
    for piece in group:
        end = start + piece.end - piece.start
        piece.request.add(sets if len(group) == 1 else sets.take(slice(start, end)), begun, seconds)
        start = end
