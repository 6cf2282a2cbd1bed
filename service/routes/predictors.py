"""What is served, and how outcomes have treated it."""

import math
from typing import Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter
from pydantic import BaseModel

from core.bounds import Supermartingale, miscoverage_interval
from core.certificate import Certificate
from service.problems import ProblemError
from service.routes.dependencies import TheCaller, TheService
from service.schemas.common import ALWAYS, Cursor, Items, Limit, PathId, Strict, problems
from service.schemas.resources import PredictorAnswer
from service.serving.loaded import promised_alpha
from service.shapes import instant
from service.state import Service

router = APIRouter(tags=["predictors"], responses=ALWAYS)

_PATH_POINTS = 500


class ServingRequest(Strict):
    serve: Literal["random", "best"]


class PathPoint(BaseModel):
    outcomes: int
    misses: int
    log_capital: float


class MonitorAnswer(BaseModel):
    predictor_id: str
    certificate_id: str
    status: Literal["consistent", "contradicted"]
    promised_miscoverage: float
    outcomes: int
    misses: int
    miscoverage: float | None
    interval: list[float]
    """holds at every moment at once, with probability 1 - eta"""
    eta: float
    log_capital: float
    log_peak: float
    log_threshold: float
    """contradicted once the capital's logarithm reaches it"""
    contradicted_at: str | None
    path: list[PathPoint]


@router.get("/predictors", response_model=Items[PredictorAnswer], responses=problems(422))
def list_predictors(service: TheService, caller: TheCaller, limit: Limit = 50, cursor: Cursor = None) -> Any:
    with service.store.reading() as work:
        page = work.predictors.list(caller.tenant, limit=limit, cursor=cursor)
        against = work.outcomes.contradicted_of(caller.tenant)
    items = [PredictorAnswer.of(record, contradicted=record.id in against) for record in page.items]
    return Items(items=items, next_cursor=page.next_cursor)


@router.get("/predictors/{id}", response_model=PredictorAnswer, responses=problems(404, 422))
def get_predictor(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        against = work.outcomes.contradicted_of(caller.tenant)
        return PredictorAnswer.of(work.predictors.get(caller.tenant, id), contradicted=id in against)


@router.patch("/predictors/{id}", response_model=PredictorAnswer, responses=problems(400, 404, 409, 413, 422))
async def change_serving(id: PathId, body: ServingRequest, service: TheService, caller: TheCaller) -> Any:
    """`best` serves only the member with the smallest certified size, which is deterministic.

    Only certificates for every draw allow that: there each member keeps the promise by itself.
    """
    loaded = await service.predictors.get(caller.tenant, id)
    if body.serve == "best" and loaded.predictor.certificate.coverage.guarantee != "per_draw":
        raise ProblemError(409, "This certificate is for the mean over all members: one alone is not covered by it.")

    def change() -> PredictorAnswer:
        with service.store.writing() as work:
            record = work.predictors.set_serving(caller.tenant, id, body.serve)
            return PredictorAnswer.of(record, contradicted=id in work.outcomes.contradicted_of(caller.tenant))

    answer = await run_sync(change)
    service.predictors.update(loaded, serve=body.serve)
    return answer


@router.get("/predictors/{id}/monitor", response_model=MonitorAnswer, responses=problems(404, 422))
def get_monitor(id: PathId, service: TheService, caller: TheCaller) -> Any:
    """How the served sets have done, and whether that contradicts what was promised."""
    return monitor_of(service, caller.tenant, id)


def monitor_of(service: Service, tenant: str, id: str) -> MonitorAnswer:
    eta = service.settings.monitor_eta
    with service.store.reading() as work:
        predictor = work.predictors.get(tenant, id)
        document = work.certificates.get(tenant, predictor.certificate_id).document
        monitor = work.outcomes.monitor(tenant, id)
        path = work.outcomes.path(tenant, id, _PATH_POINTS)
    alpha = promised_alpha(Certificate.from_json(document))

    def capital(outcomes: int, misses: int) -> float:
        return Supermartingale(alpha, outcomes=outcomes, misses=misses).log_capital

    return MonitorAnswer(
        predictor_id=id,
        certificate_id=predictor.certificate_id,
        status="consistent" if monitor.contradicted_at is None else "contradicted",
        promised_miscoverage=alpha,
        outcomes=monitor.outcomes,
        misses=monitor.misses,
        miscoverage=monitor.misses / monitor.outcomes if monitor.outcomes else None,
        interval=list(miscoverage_interval(monitor.outcomes, monitor.misses, eta)),
        eta=eta,
        log_capital=capital(monitor.outcomes, monitor.misses),
        log_peak=monitor.log_peak,
        log_threshold=-math.log(eta),
        contradicted_at=instant(monitor.contradicted_at),
        path=[PathPoint(outcomes=t, misses=s, log_capital=capital(t, s)) for t, s in path],
    )
