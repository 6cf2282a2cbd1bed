"""From inputs to sets with their ids: what every route that serves sets has in common."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from anyio.to_thread import run_sync
from numpy.typing import ArrayLike, NDArray

from certiset.core.data.arrays import check_inputs
from certiset.core.errors import DataError, NotFoundError, OptionError, TooLargeError
from certiset.core.fit.group_answers import group_columns
from certiset.core.sets import PredictionSets
from certiset.core.store.identifiers import is_predictor_id
from certiset.service.serving.case_hashes import CaseHashes, checked_cases
from certiset.service.serving.deployment_names import Deployed, DeploymentNames
from certiset.service.serving.inference import SMALL_NUMBERS, InferenceThreads
from certiset.service.serving.prediction_ids import PredictionIds, questions_of
from certiset.service.serving.predictor_cache import CachedPredictor, PredictorCache
from certiset.service.serving.set_query import IN_JSON, QueryFields, SetQuery
from certiset.service.serving.slices import Slices, row_slices
from certiset.service.shares import Slots

_MANY_ROWS = 100
_ROWS_HASHED = 128
_HASHED_AT_ONCE = 2**15
"""rows, and numbers, before others have their turn"""
_SHOWN_NUMBERS = 50_000
"""of a model's own, in one answer"""
_SHOWN_SEED = 0
_TIMING = "load;dur=%.3f, parse;dur=%.3f, wait;dur=%.3f, infer;dur=%.3f, total;dur=%.3f"
_T = TypeVar("_T")


@dataclass(frozen=True)
class ServedSets:
    predictor: CachedPredictor
    members: NDArray[np.int64]
    sets: PredictionSets
    ids: NDArray[np.bytes_]
    certificate_json: bytes
    """what is promised for these sets"""
    timing: str
    """for the Server-Timing header"""
    is_large: bool
    """whether writing the answer would keep others waiting"""
    groups: NDArray[np.int64] | None = None
    """(rows,): the place of each one's group, where groups have thresholds of their own"""
    deployed: Deployed | None = None
    """the deployment whose name was asked; None: the predictor's own id was"""

    def columns(self) -> dict[str, NDArray[Any]]:
        """The answer as arrays, one entry per row."""
        found = {**self.sets.columns(), "size": self.sets.size, "member": self.members, "prediction_id": self.ids}
        return found if self.groups is None else found | group_columns(self.predictor.predictor, self.groups)


@dataclass(frozen=True)
class SetServer:
    predictors: PredictorCache
    names: DeploymentNames
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
    count_asked: Callable[[str, str, int], object]
    """the same by the token of a deployment that collects outcomes"""
    threads: Slots
    """for what would keep the event loop busy for long"""
    slices: Slices = field(default_factory=Slices)

    async def serve(self, tenant: str, query: SetQuery, fields: QueryFields = IN_JSON) -> ServedSets:
        """Draws a member for each row, unless one is asked for, and has the sets computed.

        What a name stands for is looked up once, so that one predictor answers for all rows, whatever is switched
        meanwhile.
        """
        begin = time.perf_counter()
        reference, x, member, cases, columns, groups, alpha = query
        cached, deployed = await self.find(tenant, reference)
        predictor_id, asked = cached.id, cached.asked_at(alpha, fields.alpha)
        found = time.perf_counter()
        model = cached.predictor.scorer.model
        rows = _length(x)
        is_large = rows > _MANY_ROWS or rows * cached.predictor.row_numbers > SMALL_NUMBERS
        self._check_size(rows, model.outputs)
        if columns is not None:
            named = cached.predictor.named_inputs
            x = await self.in_thread(tenant, named, x, columns) if is_large else named(x, columns)
        inputs = await self.in_thread(tenant, check_inputs, model, x) if is_large else check_inputs(model, x)
        if rows == 0:
            raise DataError("x has no rows.", field="x")
        codes = await self._groups(is_large, cached, groups, rows, fields.groups)
        names = None if cases is None else checked_cases(cases, rows, fields.cases)
        once, numbers = await self._hashes(is_large, cached, inputs, names)
        questions = await self._questions(is_large, cached, inputs, deployed)
        try:
            draw = cached.members
            members = (
                await self.in_thread(tenant, draw, rows, member, numbers) if is_large else draw(rows, member, numbers)
            )
        except DataError as error:
            raise OptionError(str(error), field=fields.member) from None
        parsed = time.perf_counter()
        thread = self.inference.of(tenant, cached.predictor)
        result = await thread.sets_of(tenant, asked.predictor, inputs, cached.predictor.cells(members, codes))
        replayed = member is not None or not asked.is_watched
        how = {"replayed": replayed, "cases": once, "groups": codes, "questions": questions}
        ids = await self._issue(is_large, tenant, predictor_id, members, result.sets, **how)
        self.count_rows(rows)
        if not replayed:
            self.count_issued(tenant, predictor_id, rows)
            if deployed is not None and deployed.token is not None:
                self.count_asked(tenant, deployed.token.hex(), rows)
        stages = (found - begin, parsed - found, result.waited, result.computed, time.perf_counter() - begin)
        timing = _TIMING % tuple([1000 * seconds for seconds in stages])
        return ServedSets(cached, members, result.sets, ids, asked.certificate_json, timing, is_large, codes, deployed)

    async def find(self, tenant: str, reference: str) -> tuple[CachedPredictor, Deployed | None]:
        """The predictor that an id or a name stands for, and the deployment if it is a name."""
        if is_predictor_id(reference):
            return await self.predictors.get(tenant, reference), None
        deployed = await self.names.get(tenant, reference)
        try:
            return await self.predictors.get(tenant, deployed.predictor_id), deployed
        except NotFoundError:
            # Deleted, after the name was switched to another one.
            deployed = await self.names.look_up(tenant, reference)
            return await self.predictors.get(tenant, deployed.predictor_id), deployed

    async def _groups(
        self, is_large: bool, cached: CachedPredictor, groups: Any, rows: int, field: str
    ) -> NDArray[np.int64] | None:
        """The group of each row, as the predictor counts them."""
        read = cached.predictor.group_codes
        try:
            return await self.in_thread(cached.tenant, read, groups, rows) if is_large else read(groups, rows)
        except DataError as error:
            raise DataError(str(error), field=field) from None

    async def _hashes(
        self, is_large: bool, cached: CachedPredictor, inputs: NDArray[Any], names: list[str] | None
    ) -> tuple[list[bytes] | None, NDArray[np.uint64] | None]:
        """What each row counts under, if it may count only once, and for named cases the number that draws a member."""
        if names is None and not cached.counts_inputs:
            return None, None
        if not is_large:
            return self._hashed(cached, inputs, names)
        each = row_slices(len(inputs), cached.predictor.row_numbers, at_once=_ROWS_HASHED, most=_HASHED_AT_ONCE)
        every = (self._hashed(cached, inputs[part], None if names is None else names[part]) for part in each)
        parts = await self.in_slices(cached.tenant, every)
        numbers = [part[1] for part in parts if part[1] is not None]
        return [one for part in parts for one in part[0]], np.concatenate(numbers) if numbers else None

    def _hashed(
        self, cached: CachedPredictor, inputs: NDArray[Any], names: list[str] | None
    ) -> tuple[list[bytes], NDArray[np.uint64] | None]:
        if names is not None:
            return self.cases.of_cases(cached.tenant, cached.id, names)
        return self.cases.of_inputs(cached.tenant, cached.id, inputs), None

    async def _questions(
        self, is_large: bool, cached: CachedPredictor, inputs: NDArray[Any], deployed: Deployed | None
    ) -> list[bytes] | None:
        """What proves later that a deployment, if it collects outcomes, was asked about these inputs."""
        if deployed is None or deployed.token is None:
            return None
        token = deployed.token

        def questions(part: slice) -> list[bytes]:
            return questions_of(token, self.cases.of_inputs(cached.tenant, cached.id, inputs[part]))

        if not is_large:
            return questions(slice(None))
        each = row_slices(len(inputs), cached.predictor.row_numbers, at_once=_ROWS_HASHED, most=_HASHED_AT_ONCE)
        parts = await self.in_slices(cached.tenant, (questions(part) for part in each))
        return [one for part in parts for one in part]

    async def _issue(self, is_large: bool, tenant: str, *what: Any, **how: Any) -> NDArray[np.bytes_]:
        if not is_large:
            return np.array(self.ids.issue(tenant, *what, **how), dtype="S")
        parts = await self.in_slices(tenant, self.ids.issue_in_parts(tenant, *what, **how))
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

    async def model_outputs(self, tenant: str, reference: str, x: list[Any]) -> tuple[CachedPredictor, NDArray[Any]]:
        """What the model itself says about a few rows. In a thread of the tenant's, so that sets do not wait for it."""
        cached, _ = await self.find(tenant, reference)
        most = max(1, _SHOWN_NUMBERS // cached.predictor.scorer.model.outputs)
        if len(x) > most:
            raise TooLargeError(f"Of this model at most {most:,} rows are shown at once.", field="x")
        return cached, await self.in_thread(tenant, cached.predictor.model_outputs, x)

    async def sets_to_show(self, cached: CachedPredictor, x: ArrayLike) -> PredictionSets:
        """Computed like any others, but nobody's predictions: a row has the same member at every look, so that a page
        shows the same numbers again."""
        inputs = await run_sync(check_inputs, cached.predictor.scorer.model, x)
        numbers = np.random.default_rng(_SHOWN_SEED).integers(2**64, size=len(inputs), dtype=np.uint64)
        members = cached.members(len(inputs), None, numbers)
        thread = self.inference.of(cached.tenant, cached.predictor)
        return (await thread.sets_of(cached.tenant, cached.predictor, inputs, members)).sets


def _length(x: ArrayLike) -> int:
    """How many rows there seem to be, before anything is checked."""
    return len(x) if isinstance(x, list) or (isinstance(x, np.ndarray) and x.ndim > 0) else 0
