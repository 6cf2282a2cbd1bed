"""From inputs to sets with their ids: what every route that serves sets has in common."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from anyio.to_thread import run_sync
from numpy.typing import ArrayLike, NDArray

from core.fit.data import check_inputs
from core.sets import PredictionSets
from service.problems import ProblemError, wrong_field
from service.serving.inference import Answer, BusyError
from service.serving.loaded import Loaded
from service.state import Service

_MANY_ROWS = 256


@dataclass(frozen=True)
class Served:
    loaded: Loaded
    members: NDArray[np.int64]
    sets: PredictionSets
    ids: list[str]
    timing: str
    """for the Server-Timing header"""


async def serve(service: Service, tenant: str, predictor_id: str, x: ArrayLike, member: int | None) -> Served:
    """Draws a member for each row, unless one is asked for, and has the sets computed."""
    begin = time.perf_counter()
    loaded = await service.predictors.get(tenant, predictor_id)
    found = time.perf_counter()
    # Much of anything is done in a thread, so that others are not kept waiting.
    many = isinstance(x, list | np.ndarray) and len(x) > _MANY_ROWS
    model = loaded.predictor.scorer.model
    inputs = await run_sync(check_inputs, model, x) if many else check_inputs(model, x)
    rows = len(inputs)
    if rows == 0:
        raise wrong_field("x", "x has no rows.")
    if rows > service.settings.max_predict_rows:
        raise ProblemError(413, f"At most {service.settings.max_predict_rows:,} rows are accepted at once.")
    if member is not None and not 0 <= member < loaded.predictor.members:
        raise wrong_field("member", f"member must be from 0 to {loaded.predictor.members - 1}.")
    members = loaded.members(rows, member)
    parsed = time.perf_counter()
    answer = await _answer(service, loaded, inputs, members)

    def issue() -> list[str]:
        replayed = member is not None
        return service.prediction_ids.issue(tenant, predictor_id, members, answer.sets, replayed=replayed)

    ids = await run_sync(issue) if many else issue()
    service.metrics.rows.inc(rows)
    stages = {"load": found - begin, "parse": parsed - found, "wait": answer.waited, "infer": answer.computed}
    stages["total"] = time.perf_counter() - begin
    timing = ", ".join(f"{name};dur={1000 * seconds:.3f}" for name, seconds in stages.items())
    return Served(loaded, members, answer.sets, ids, timing)


async def compute(service: Service, loaded: Loaded, x: ArrayLike) -> PredictionSets:
    """Sets to look at: computed like any others, but nobody's predictions."""
    inputs = await run_sync(check_inputs, loaded.predictor.scorer.model, x)
    members = loaded.members(len(inputs), None)
    return (await _answer(service, loaded, inputs, members)).sets


async def _answer(service: Service, loaded: Loaded, inputs: NDArray[Any], members: NDArray[np.int64]) -> Answer:
    try:
        return await service.inference.of(loaded.predictor).sets_of(loaded.predictor, inputs, members)
    except BusyError:
        raise ProblemError(
            503, "Too many rows are waiting: try again in a moment.", headers={"Retry-After": "1"}
        ) from None


def columns(served: Served) -> dict[str, NDArray[Any]]:
    """The answer as arrays, one row a set."""
    sets: Any = served.sets
    named = {name: getattr(sets, name) for name in sets.__dataclass_fields__}
    return {**named, "size": sets.size, "member": served.members, "prediction_id": np.array(served.ids, dtype="S")}
