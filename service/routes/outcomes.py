"""What came true: each outcome of a served set counts once, and a forged one never."""

import time
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter
from pydantic import BaseModel, Field

from core.certificate import Certificate
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
Number = Annotated[float, Field(allow_inf_nan=False)]


class OutcomeRequest(Strict):
    prediction_id: Annotated[str, Field(max_length=200_000, pattern=r"^[A-Za-z0-9_-]+$")]
    y: Number | Annotated[list[Number], Field(min_length=1, max_length=100_000)]


class OutcomesRequest(Strict):
    outcomes: Annotated[list[OutcomeRequest], Field(min_length=1, max_length=10_000)]


class OutcomesAnswer(BaseModel):
    counted: int
    repeated: int
    """known before, and not counted again"""
    covered: list[bool]
    """for each outcome, whether its set contained it"""


@router.post("/outcomes", response_model=OutcomesAnswer, responses=problems(400, 404, 413, 422))
async def report_outcomes(body: OutcomeRequest | OutcomesRequest, service: TheService, caller: TheCaller) -> Any:
    """Takes the truth for one served set, or for many. All are counted, or, if one is not acceptable, none."""
    given = body.outcomes if isinstance(body, OutcomesRequest) else [body]
    covered, missed = _judge(service, caller, given)
    counted = repeated = 0
    for predictor_id, flags in missed.items():
        loaded = await service.predictors.get(caller.tenant, predictor_id)
        result = await run_sync(_count, service, caller, predictor_id, flags, loaded.predictor.certificate)
        counted, repeated = counted + result[0], repeated + result[1]
        if result[2] != loaded.contradicted:
            service.predictors.update(loaded, contradicted=result[2])
    return OutcomesAnswer(counted=counted, repeated=repeated, covered=covered)


def _judge(
    service: Service, caller: Caller, given: list[OutcomeRequest]
) -> tuple[list[bool], dict[str, dict[str, bool]]]:
    """For each outcome whether its set contained it, and by predictor which predictions were misses."""
    covered: list[bool] = []
    missed: dict[str, dict[str, bool]] = {}
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
        covered.append(inside)
        missed.setdefault(prediction.predictor, {}).setdefault(prediction.number, not inside)
    return covered, missed


def _count(
    service: Service, caller: Caller, predictor_id: str, flags: dict[str, bool], certificate: Certificate
) -> tuple[int, int, bool]:
    """(counted, repeated, whether the certificate is now contradicted)."""
    for attempt in range(_TRIES):
        try:
            with service.store.writing() as work:
                result = work.outcomes.add(
                    caller.tenant,
                    predictor_id,
                    flags,
                    alpha=promised_alpha(certificate),
                    eta=service.settings.monitor_eta,
                )
                against = work.outcomes.monitor(caller.tenant, predictor_id).contradicted_at is not None
            return result.counted, result.repeated, against
        except TRANSIENT:
            # Somebody else reported the predictor's first outcome, or this very one, at the same moment.
            if attempt + 1 == _TRIES:
                raise
            time.sleep(0.02 * 2**attempt)
    raise AssertionError
