"""What is served, and how outcomes have treated it."""

from typing import Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Response

from certiset.core.jobs import deletion, serving
from certiset.core.jobs.monitoring import monitor_of
from certiset.core.jobs.views import predictor_resource
from certiset.core.resources import Monitor, Predictor
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Cursor, Items, Limit, PathId, Strict, problems

router = APIRouter(tags=["predictors"], responses=ALWAYS)


class ServingRequest(Strict):
    serve: Literal["random", "best"]


@router.get("/predictors", response_model=Items[Predictor], responses=problems(422))
@requires("read")
def list_predictors(service: TheService, caller: TheCaller, limit: Limit = 50, cursor: Cursor = None) -> Any:
    with service.store.reading() as work:
        page = work.predictors.list(caller.tenant, limit=limit, cursor=cursor)
        contradicted = work.outcomes.contradicted_of(caller.tenant)
    return Items.of(page, lambda record: predictor_resource(record, contradicted=record.id in contradicted))


@router.get("/predictors/{id}", response_model=Predictor, responses=problems(404, 422))
@requires("read")
def get_predictor(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        record, monitor = work.predictors.get(caller.tenant, id), work.outcomes.monitor(caller.tenant, id)
    return predictor_resource(record, contradicted=monitor.contradicted_at is not None)


@router.patch("/predictors/{id}", response_model=Predictor, responses=problems(400, 404, 409, 413, 422))
@requires("write", action="predictor.serve")
async def change_serving(
    id: PathId, body: ServingRequest, service: TheService, caller: TheCaller, store: ActingStore
) -> Any:
    """`best` serves only the member with the smallest certified size, which is deterministic.

    Only certificates for every draw allow that: there each member keeps the promise by itself.
    """
    record, contradicted = await run_sync(serving.change_serving, store, caller.tenant, id, body.serve)
    service.predictors.update(caller.tenant, id, serve=record.serve, contradicted=contradicted)
    return predictor_resource(record, contradicted=contradicted)


@router.delete("/predictors/{id}", status_code=204, response_class=Response, responses=problems(404, 422))
@requires("write", action="predictor.delete")
async def delete_predictor(id: PathId, service: TheService, caller: TheCaller, store: ActingStore) -> None:
    """Ends its serving, everywhere within seconds; the certificate stays readable, marked as withdrawn."""
    await run_sync(deletion.delete_predictor, store, caller.tenant, id)
    service.predictors.forget(caller.tenant, id)


@router.get("/predictors/{id}/monitor", response_model=Monitor, responses=problems(404, 422))
@requires("read")
def get_monitor(id: PathId, service: TheService, caller: TheCaller) -> Any:
    """How the served sets have done, and whether that contradicts what was promised."""
    return monitor_of(service.store, caller.tenant, id, service.settings.monitor_eta)
