"""From inputs to sets with their ids: what every route that serves sets has in common."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from anyio.to_thread import run_sync
from numpy.typing import ArrayLike, NDArray

from certiset.core.data.arrays import check_inputs
from certiset.core.errors import DataError, OptionError, TooLargeError
from certiset.core.sets import PredictionSets
from certiset.service.serving.case_hashes import CaseHashes, Cases, checked_cases
from certiset.service.serving.inference import SMALL_NUMBERS, InferenceThreads
from certiset.service.serving.prediction_ids import PredictionIds
from certiset.service.serving.predictor_cache import CachedPredictor, PredictorCache
from certiset.service.serving.slices import Slices, row_slices
from certiset.service.shares import Slots

_MANY_ROWS = 100
_ROWS_HASHED = 128
_HASHED_AT_ONCE = 2**15
"""rows, and numbers, before others have their turn"""
_T = TypeVar("_T")


@dataclass(frozen=True)
class ServedSets:
    predictor: CachedPredictor
    members: NDArray[np.int64]
    sets: PredictionSets
    ids: NDArray[np.bytes_]
    timing: str
    """for the Server-Timing header"""
    is_large: bool
    """whether writing the answer would keep others waiting"""

    def columns(self) -> dict[str, NDArray[Any]]:
        """The answer as arrays, one entry per row."""
        return {**self.sets.columns(), "size": self.sets.size, "member": self.members, "prediction_id": self.ids}


@dataclass(frozen=True)
class SetServer:
    predictors: PredictorCache
    inference: InferenceThreads
    ids: PredictionIds
    max_rows: int
    """in one request"""
    max_outputs: int
    """in one request: rows times classes or targets"""
    cases: CaseHashes
    count_rows: Callable[[int], object]
    """told how many rows were served"""
    count_issued: Callable[[str, str, int], object]
    """told for whom, by which predictor and how many that are no replays"""
    threads: Slots
    """for what would keep the event loop busy for long"""
    slices: Slices = field(default_factory=Slices)

    async def serve(
        self,
        tenant: str,
        predictor_id: str,
        x: ArrayLike,
        member: int | None,
        *,
        member_field: str = "member",
        cases: Cases | None = None,
        cases_field: str = "cases",
    ) -> ServedSets:
        """Draws a member for each row, unless one is asked for, and has the sets computed.

        ``cases`` are the caller's names for them: one case has the same member again, and its outcome counts once.
        ``member_field`` and ``cases_field`` are what the caller calls these.
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
        names = None if cases is None else checked_cases(cases, rows, cases_field)
        once, numbers = await self._hashes(is_large, cached, inputs, names)
        try:
            draw = cached.members
            members = (
                await self.in_thread(tenant, draw, rows, member, numbers) if is_large else draw(rows, member, numbers)
            )
        except DataError as error:
            raise OptionError(str(error), field=member_field) from None
        parsed = time.perf_counter()
        thread = self.inference.of(tenant, cached.predictor)
        result = await thread.sets_of(tenant, cached.predictor, inputs, members)
        ids = await self._issue(
            is_large, tenant, predictor_id, members, result.sets, replayed=member is not None, cases=once
        )
        self.count_rows(rows)
        if member is None:
            self.count_issued(tenant, predictor_id, rows)
        stages = {"load": found - begin, "parse": parsed - found, "wait": result.waited, "infer": result.computed}
        stages["total"] = time.perf_counter() - begin
        timing = ", ".join(f"{name};dur={1000 * seconds:.3f}" for name, seconds in stages.items())
        return ServedSets(cached, members, result.sets, ids, timing, is_large)

    async def _hashes(
        self, is_large: bool, cached: CachedPredictor, inputs: NDArray[Any], names: list[str] | None
    ) -> tuple[list[bytes] | None, NDArray[np.uint64] | None]:
        """What each row counts under, if it may count only once, and for named cases the number that draws a member."""
        if names is None and not cached.counts_inputs:
            return None, None

        def hashes(part: slice) -> tuple[list[bytes], NDArray[np.uint64] | None]:
            if names is not None:
                return self.cases.of_cases(cached.tenant, cached.id, names[part])
            return self.cases.of_inputs(cached.tenant, cached.id, inputs[part]), None

        if not is_large:
            return hashes(slice(None))
        each = row_slices(len(inputs), cached.predictor.row_numbers, at_once=_ROWS_HASHED, most=_HASHED_AT_ONCE)
        parts = await self.in_slices(cached.tenant, (hashes(part) for part in each))
        numbers = [part[1] for part in parts if part[1] is not None]
        return [one for part in parts for one in part[0]], np.concatenate(numbers) if numbers else None

    async def _issue(
        self, is_large: bool, tenant: str, *what: Any, replayed: bool, cases: list[bytes] | None
    ) -> NDArray[np.bytes_]:
        if not is_large:
            return np.array(self.ids.issue(tenant, *what, replayed=replayed, cases=cases), dtype="S")
        parts = await self.in_slices(tenant, self.ids.issue_in_parts(tenant, *what, replayed=replayed, cases=cases))
        return await self.in_thread(tenant, np.concatenate, parts)

    async def in_slices(self, tenant: str, work: Iterator[_T]) -> list[_T]:
        """For work that is Python's own and would not leave the lock to the event loop; a tenant has few at a time."""
        async with self.threads.of(tenant):
            return await self.slices.run(work)

    async def in_thread(self, tenant: str, work: Callable[..., _T], *arguments: Any) -> _T:
        """In one of the tenant's few threads for heavy work: others have theirs."""
        return await run_sync(work, *arguments, limiter=self.threads.of(tenant))

    def _check_size(self, rows: int, outputs: int) -> None:
        if rows > self.max_rows:
            raise TooLargeError(f"At most {self.max_rows:,} rows are accepted at once.", field="x")
        if rows > 1 and rows * outputs > self.max_outputs:
            most = max(1, self.max_outputs // outputs)
            raise TooLargeError(
                f"With {outputs:,} outputs per row, at most {most:,} rows are accepted at once.", field="x"
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
