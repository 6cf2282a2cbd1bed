"""What came true: each outcome of a served set counts once, and a forged one never."""

from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter
from pydantic import Discriminator, Field, Tag

from certiset.core.errors import OptionError
from certiset.core.jobs.outcomes import Outcome, count_outcomes
from certiset.core.resources import OutcomesCounted
from certiset.core.store import Store
from certiset.service.http.access.requirements import outcomes_body, requires
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Strict, problems
from certiset.service.http.state import Service

router = APIRouter(tags=["outcomes"], responses=ALWAYS)

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class OutcomeRequest(Strict):
    prediction_id: Annotated[str, Field(max_length=100_000, pattern=r"^[A-Za-z0-9_-]+$")]
    y: Number | Annotated[list[Number], Field(min_length=1, max_length=100_000)]


class OutcomesRequest(Strict):
    outcomes: Annotated[list[OutcomeRequest], Field(min_length=1, max_length=10_000)]


def _model(body: Any) -> str:
    """Which of the two is meant, so that errors speak only of that one."""
    many = isinstance(body, dict) and "outcomes" in body
    return OutcomesRequest.__name__ if many else OutcomeRequest.__name__


OneOrMany = Annotated[
    Annotated[OutcomeRequest, Tag(OutcomeRequest.__name__)] | Annotated[OutcomesRequest, Tag(OutcomesRequest.__name__)],
    Discriminator(_model),
]


@router.post("/outcomes", response_model=OutcomesCounted, responses=problems(400, 404, 413, 422))
@requires("write", action="outcome.report", largest_body=outcomes_body)
async def report_outcomes(body: OneOrMany, service: TheService, caller: TheCaller, store: ActingStore) -> Any:
    """Takes the truth for one served set, or for many. All are counted, or, if one is not acceptable, none.

    The outcome of a replayed member says whether it was covered and counts for nothing: who chose the member may have
    chosen the outcome, too.
    """
    counted, contradicted = await run_sync(_count, service, store, caller.tenant, body)
    for id, is_contradicted in contradicted.items():
        service.predictors.update(caller.tenant, id, contradicted=is_contradicted)
    return counted


def _count(
    service: Service, store: Store, tenant: str, body: OutcomeRequest | OutcomesRequest
) -> tuple[OutcomesCounted, dict[str, bool]]:
    if isinstance(body, OutcomesRequest):
        outcomes = [_read(service, tenant, one, f"outcomes.{place}.") for place, one in enumerate(body.outcomes)]
    else:
        outcomes = [_read(service, tenant, body, "")]
    return count_outcomes(store, tenant, outcomes, service.settings.monitor_eta)


def _read(service: Service, tenant: str, given: OutcomeRequest, place: str) -> Outcome:
    prediction = service.prediction_ids.read(tenant, given.prediction_id)
    if prediction is None:
        raise OptionError("This prediction_id is unknown.", field=f"{place}prediction_id")
    return Outcome(prediction, given.y, field=f"{place}y")
