"""From inputs to sets with their ids: what every route that serves sets has in common."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from anyio.to_thread import run_sync
from numpy.typing import ArrayLike, NDArray

from certiset.core.data.arrays import check_inputs
from certiset.core.errors import DataError, OptionError, TooLargeError
from certiset.core.sets import PredictionSets
from certiset.service.serving.inference import SMALL_NUMBERS, InferenceThreads
from certiset.service.serving.prediction_ids import PredictionIds
from certiset.service.serving.predictor_cache import CachedPredictor, PredictorCache
from certiset.service.shares import Slots

_MANY_ROWS = 100
_T = TypeVar("_T")


@dataclass(frozen=True)
class ServedSets:
    predictor: CachedPredictor
    members: NDArray[np.int64]
    sets: PredictionSets
    ids: list[str]
    timing: str
    """for the Server-Timing header"""
    is_large: bool
    """whether writing the answer would keep others waiting"""

    def columns(self) -> dict[str, NDArray[Any]]:
        """The answer as arrays, one entry per row."""
        ids = np.array(self.ids, dtype="S")
        return {**self.sets.columns(), "size": self.sets.size, "member": self.members, "prediction_id": ids}


@dataclass(frozen=True)
class SetServer:
    predictors: PredictorCache
    inference: InferenceThreads
    ids: PredictionIds
    max_rows: int
    """in one request"""
    max_outputs: int
    """in one request: rows times classes or targets"""
    count_rows: Callable[[int], object]
    """told how many rows were served"""
    threads: Slots
    """for what would keep the event loop busy for long"""

    async def serve(
        self, tenant: str, predictor_id: str, x: ArrayLike, member: int | None, *, member_field: str = "member"
    ) -> ServedSets:
        """Draws a member for each row, unless one is asked for, and has the sets computed.

        ``member_field`` is what the caller calls the member.
        """
        begin = time.perf_counter()
        cached = await self.predictors.get(tenant, predictor_id)
        found = time.perf_counter()
        model = cached.predictor.scorer.model
        rows = _length(x)
        is_large = rows > _MANY_ROWS or rows * cached.predictor.row_numbers > SMALL_NUMBERS
        self._check_size(rows, model.outputs)
        inputs = await self.in_thread(tenant, check_inputs, model, x) if is_large else check_inputs(model, x)
        if rows == 0:
            raise DataError("x has no rows.", field="x")
        try:
            members = cached.members(rows, member)
        except DataError as error:
            raise OptionError(str(error), field=member_field) from None
        parsed = time.perf_counter()
        thread = self.inference.of(tenant, cached.predictor)
        result = await thread.sets_of(tenant, cached.predictor, inputs, members)

        def issue() -> list[str]:
            return self.ids.issue(tenant, predictor_id, members, result.sets, replayed=member is not None)

        ids = await self.in_thread(tenant, issue) if is_large else issue()
        self.count_rows(rows)
        stages = {"load": found - begin, "parse": parsed - found, "wait": result.waited, "infer": result.computed}
        stages["total"] = time.perf_counter() - begin
        timing = ", ".join(f"{name};dur={1000 * seconds:.3f}" for name, seconds in stages.items())
        return ServedSets(cached, members, result.sets, ids, timing, is_large)

    async def in_thread(self, tenant: str, work: Callable[..., _T], *arguments: Any) -> _T:
        """In one of the tenant's few threads for heavy work: others have theirs."""
        return await run_sync(work, *arguments, limiter=self.threads.of(tenant))

    def _check_size(self, rows: int, outputs: int) -> None:
        if rows > self.max_rows:
            raise TooLargeError(f"At most {self.max_rows:,} rows are accepted at once.", field="x")
        if rows > 1 and rows * outputs > self.max_outputs:
            most = max(1, self.max_outputs // outputs)
            raise TooLargeError(
                f"With {outputs:,} outputs a row, at most {most:,} rows are accepted at once.", field="x"
            )

    async def sets_to_show(self, cached: CachedPredictor, x: ArrayLike) -> PredictionSets:
        """Computed like any others, but nobody's predictions."""
        inputs = await run_sync(check_inputs, cached.predictor.scorer.model, x)
        members = cached.members(len(inputs), None)
        thread = self.inference.of(cached.tenant, cached.predictor)
        return (await thread.sets_of(cached.tenant, cached.predictor, inputs, members)).sets


def _length(x: ArrayLike) -> int:
    """How many rows there seem to be, before anything is checked."""
    return len(x) if isinstance(x, list) or (isinstance(x, np.ndarray) and x.ndim > 0) else 0
