"""What came true: each outcome of a served set counts once, and a forged one never."""

import time
from dataclasses import dataclass, field
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter
from pydantic import BaseModel, Field

from core.errors import DataError
from core.store.errors import TRANSIENT
from service.access.keys import Caller
from service.problems import ProblemError
from service.routes.dependencies import TheCaller, TheService
from service.schemas.common import ALWAYS, Strict, problems
from service.serving.loaded import promised_alpha
from service.state import Service

router = APIRouter(tags=["outcomes"], responses=ALWAYS)

_TRIES = 5
Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class OutcomeRequest(Strict):
    prediction_id: Annotated[str, Field(max_length=100_000, pattern=r"^[A-Za-z0-9_-]+$")]
    y: Number | Annotated[list[Number], Field(min_length=1, max_length=100_000)]


class OutcomesRequest(Strict):
    outcomes: Annotated[list[OutcomeRequest], Field(min_length=1, max_length=10_000)]


class OutcomesAnswer(BaseModel):
    counted: int
    repeated: int
    """known before, and not counted again"""
    replayed: int
    """of members that were asked for, and therefore not counted"""
    covered: list[bool]
    """for each outcome, whether its set contained it"""


@router.post("/outcomes", response_model=OutcomesAnswer, responses=problems(400, 404, 413, 422))
async def report_outcomes(body: OutcomeRequest | OutcomesRequest, service: TheService, caller: TheCaller) -> Any:
    """Takes the truth for one served set, or for many. All are counted, or, if one is not acceptable, none.

    The outcome of a replayed member says whether it was covered and counts for nothing: who chose the member may have
    chosen the outcome, too.
    """
    given = body.outcomes if isinstance(body, OutcomesRequest) else [body]
    judged = await run_sync(_judge, service, caller, given)
    loaded = {id: await service.predictors.get(caller.tenant, id) for id in judged.missed}
    alphas = {id: promised_alpha(found.predictor.certificate) for id, found in loaded.items()}
    counted, against = await run_sync(_count, service, caller, judged.missed, alphas)
    for id, contradicted in against.items():
        service.predictors.update(loaded[id], contradicted=contradicted)
    repeated = len(given) - judged.replayed - counted
    return OutcomesAnswer(counted=counted, repeated=repeated, replayed=judged.replayed, covered=judged.covered)


@dataclass
class _Judged:
    covered: list[bool] = field(default_factory=list)
    missed: dict[str, dict[str, bool]] = field(default_factory=dict)
    """by predictor and prediction, whether its set did not contain the truth"""
    replayed: int = 0


def _judge(service: Service, caller: Caller, given: list[OutcomeRequest]) -> _Judged:
    judged = _Judged()
    for place, outcome in enumerate(given):
        prediction = service.prediction_ids.read(caller.tenant, outcome.prediction_id)
        where = f"outcomes.{place}"
        if prediction is None:
            message = "This prediction_id was not issued here, to you."
            raise ProblemError(422, message, errors=[{"where": f"{where}.prediction_id", "message": message}])
        try:
            inside = bool(prediction.set.contains([outcome.y])[0])
        except (DataError, ValueError) as error:
            message = str(error) if isinstance(error, DataError) else "y does not have the shape of the set."
            raise ProblemError(422, message, errors=[{"where": f"{where}.y", "message": message}]) from None
        judged.covered.append(inside)
        if prediction.replayed:
            judged.replayed += 1
        else:
            judged.missed.setdefault(prediction.predictor, {}).setdefault(prediction.number, not inside)
    return judged


def _count(
    service: Service, caller: Caller, missed: dict[str, dict[str, bool]], alphas: dict[str, float]
) -> tuple[int, dict[str, bool]]:
    """(how many were counted, by predictor whether its certificate is now contradicted), in one transaction."""
    eta = service.settings.monitor_eta
    for attempt in range(_TRIES):
        try:
            counted, against = 0, {}
            with service.store.writing() as work:
                # In one order for everybody, so that no two wait for each other.
                for id in sorted(missed):
                    counted += work.outcomes.add(caller.tenant, id, missed[id], alpha=alphas[id], eta=eta).counted
                    against[id] = work.outcomes.monitor(caller.tenant, id).contradicted_at is not None
            return counted, against
        except TRANSIENT:
            # Somebody else reported the predictor's first outcome, or this very one, at the same moment.
            if attempt + 1 == _TRIES:
                raise
            time.sleep(0.02 * 2**attempt)
    raise AssertionError
