"""From inputs to sets with their ids: what every route that serves sets has in common."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from anyio.to_thread import run_sync
from numpy.typing import ArrayLike, NDArray

from certiset.core.data.arrays import check_inputs
from certiset.core.errors import DataError, OptionError
from certiset.core.sets import PredictionSets
from certiset.service.serving.inference import InferenceThreads
from certiset.service.serving.prediction_ids import PredictionIds
from certiset.service.serving.predictor_cache import CachedPredictor, PredictorCache

_MANY_ROWS = 256


class TooManyRowsError(DataError):
    """More rows in one request than the service accepts."""

    code = "too_large"


@dataclass(frozen=True)
class ServedSets:
    predictor: CachedPredictor
    members: NDArray[np.int64]
    sets: PredictionSets
    ids: list[str]
    timing: str
    """for the Server-Timing header"""

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
    count_rows: Callable[[int], object]
    """told how many rows were served"""

    async def serve(
        self, tenant: str, predictor_id: str, x: ArrayLike, member: int | None, *, member_field: str = "member"
    ) -> ServedSets:
        """Draws a member for each row, unless one is asked for, and has the sets computed.

        ``member_field`` is what the caller calls the member.
        """
        begin = time.perf_counter()
        cached = await self.predictors.get(tenant, predictor_id)
        found = time.perf_counter()
        # Much of anything is done in a thread, so that others are not kept waiting.
        many = _length(x) > _MANY_ROWS
        model = cached.predictor.scorer.model
        inputs = await run_sync(check_inputs, model, x) if many else check_inputs(model, x)
        rows = len(inputs)
        if rows == 0:
            raise DataError("x has no rows.", field="x")
        if rows > self.max_rows:
            raise TooManyRowsError(f"At most {self.max_rows:,} rows are accepted at once.", field="x")
        try:
            members = cached.members(rows, member)
        except DataError as error:
            raise OptionError(str(error), field=member_field) from None
        parsed = time.perf_counter()
        result = await self.inference.of(cached.predictor).sets_of(cached.predictor, inputs, members)

        def issue() -> list[str]:
            return self.ids.issue(tenant, predictor_id, members, result.sets, replayed=member is not None)

        ids = await run_sync(issue) if many else issue()
        self.count_rows(rows)
        stages = {"load": found - begin, "parse": parsed - found, "wait": result.waited, "infer": result.computed}
        stages["total"] = time.perf_counter() - begin
        timing = ", ".join(f"{name};dur={1000 * seconds:.3f}" for name, seconds in stages.items())
        return ServedSets(cached, members, result.sets, ids, timing)

    async def sets_to_show(self, cached: CachedPredictor, x: ArrayLike) -> PredictionSets:
        """Computed like any others, but nobody's predictions."""
        inputs = await run_sync(check_inputs, cached.predictor.scorer.model, x)
        members = cached.members(len(inputs), None)
        return (await self.inference.of(cached.predictor).sets_of(cached.predictor, inputs, members)).sets


def _length(x: ArrayLike) -> int:
    """How many rows there seem to be, before anything is checked."""
    return len(x) if isinstance(x, list) or (isinstance(x, np.ndarray) and x.ndim > 0) else 0
