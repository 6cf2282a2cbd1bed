"""What came true: each outcome of a served set counts once, and a forged one never."""

from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Request, Response
from pydantic import Discriminator, Field, Tag, TypeAdapter

from certiset.core.errors import OptionError
from certiset.core.jobs.outcomes import IssuedPrediction, Outcome, correct_outcome, count_outcomes
from certiset.core.monitor_resources import OutcomesCounted, OutcomeState
from certiset.core.store import Store
from certiset.service.http.access.requirements import outcomes_body, requires
from certiset.service.http.bodies import read_body
from certiset.service.http.json_bodies import parse_model
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Strict, problems
from certiset.service.http.state import Service
from certiset.service.serving.asked_inputs import asked_again

router = APIRouter(tags=["outcomes"], responses=ALWAYS)

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
ClassName = Annotated[str, Field(min_length=1, max_length=200, strict=True)]
Truth = Number | Annotated[list[Number], Field(min_length=1, max_length=100_000)] | ClassName
_ID_PATTERN = r"^[A-Za-z0-9_-]+$"
PredictionId = Annotated[str, Path(max_length=50_000, pattern=_ID_PATTERN, description="whose outcome was reported")]


class OutcomeRequest(Strict):
    prediction_id: Annotated[str, Field(max_length=100_000, pattern=_ID_PATTERN)]
    y: Truth
    x: Annotated[list[Any], Field(min_length=1)] | None = None
    """the input that was asked, again: where a deployment that recalibrates was asked, it becomes a row of its next
    predictor; elsewhere it is not looked at, and nothing of it is kept"""


class OutcomesRequest(Strict):
    outcomes: Annotated[list[OutcomeRequest], Field(min_length=1, max_length=10_000)]


class CorrectionRequest(Strict):
    y: Truth


def _model(body: Any) -> str:
    """Which of the two is meant, so that errors speak only of that one."""
    many = isinstance(body, dict) and "outcomes" in body
    return OutcomesRequest.__name__ if many else OutcomeRequest.__name__


OneOrMany = Annotated[
    Annotated[OutcomeRequest, Tag(OutcomeRequest.__name__)] | Annotated[OutcomesRequest, Tag(OutcomesRequest.__name__)],
    Discriminator(_model),
]


_BODY: TypeAdapter[OutcomeRequest | OutcomesRequest] = TypeAdapter(OneOrMany)


@router.post(
    "/outcomes",
    response_model=OutcomesCounted,
    responses=problems(400, 404, 413, 422),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"title": "Body", **_BODY.json_schema(ref_template="#/components/schemas/{model}")}
                }
            },
        }
    },
)
@requires("write", action="outcome.report", largest_body=outcomes_body)
async def report_outcomes(request: Request, service: TheService, caller: TheCaller, store: ActingStore) -> Any:
    """Takes the truth for one served set, or for many. All are counted, or, if one is not acceptable, none.

    Each counts once, and once a case where the caller named one; without a name once an input, where the inputs of the
    calibration rows were nearly all distinct.

    An outcome may bring its input again, as `x`: the id proves that it is the one that was asked, and any other is
    refused. `collected` says how many will calibrate the next predictor of their deployment.

    The outcome of a replayed member says whether it was covered and counts for nothing: who chose the member may have
    chosen the outcome, too.
    """
    sets, tenant = service.sets, caller.tenant
    body = await parse_model(await read_body(request, sets, tenant), _BODY, sets=sets, tenant=tenant)
    slots = service.route_slots.of(tenant)
    counted, contradicted = await run_sync(_count, service, store, tenant, body, limiter=slots)
    for id, is_contradicted in contradicted.items():
        service.predictors.update(tenant, id, contradicted=is_contradicted)
    return counted


@router.patch("/outcomes/{prediction_id}", response_model=OutcomeState, responses=problems(400, 404, 409, 413, 422))
@requires("write", action="outcome.correct")
async def correct(
    prediction_id: PredictionId, body: CorrectionRequest, service: TheService, caller: TheCaller, store: ActingStore
) -> Any:
    """Corrects a truth that was reported. The monitor's verdict is reconsidered from all outcomes, in their order."""
    return await _corrected(service, store, caller.tenant, prediction_id, body.y)


@router.delete("/outcomes/{prediction_id}", status_code=204, response_class=Response, responses=problems(404, 409, 422))
@requires("write", action="outcome.annul")
async def annul(prediction_id: PredictionId, service: TheService, caller: TheCaller, store: ActingStore) -> None:
    """Annuls an outcome that was reported, whether it was a hit or a miss, and reconsiders the verdict."""
    await _corrected(service, store, caller.tenant, prediction_id, None)


async def _corrected(service: Service, store: Store, tenant: str, prediction_id: str, y: Any) -> OutcomeState:
    prediction = _known(service, tenant, prediction_id, "prediction_id")
    eta, slots = service.settings.monitor_eta, service.route_slots.of(tenant)
    state, contradicted = await run_sync(correct_outcome, store, tenant, prediction, eta, y, limiter=slots)
    service.predictors.update(tenant, prediction.predictor, contradicted=contradicted)
    return state


def _count(
    service: Service, store: Store, tenant: str, body: OutcomeRequest | OutcomesRequest
) -> tuple[OutcomesCounted, dict[str, bool]]:
    if isinstance(body, OutcomesRequest):
        outcomes = [_read(service, tenant, one, f"outcomes.{place}.") for place, one in enumerate(body.outcomes)]
    else:
        outcomes = [_read(service, tenant, body, "")]
    return count_outcomes(store, tenant, outcomes, service.settings.monitor_eta)


def _read(service: Service, tenant: str, given: OutcomeRequest, place: str) -> Outcome:
    prediction = _known(service, tenant, given.prediction_id, f"{place}prediction_id")
    x = None
    if given.x is not None and prediction.question is not None:
        x = asked_again(service.sets.cases, tenant, prediction, given.x, f"{place}x")
    return Outcome(prediction, given.y, field=f"{place}y", x=x)


def _known(service: Service, tenant: str, prediction_id: str, field: str) -> IssuedPrediction:
    prediction = service.prediction_ids.read(tenant, prediction_id)
    if prediction is None:
        raise OptionError("This prediction_id is unknown.", field=field)
    return prediction
