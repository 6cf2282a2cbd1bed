"""What is served, and how outcomes have treated it."""

from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse

from certiset.core.jobs import deletion, serving
from certiset.core.jobs.monitoring import monitor_of
from certiset.core.jobs.views import predictor_resource
from certiset.core.monitor_resources import Monitor
from certiset.core.resources import Predictor
from certiset.service.http.access.requirements import requires
from certiset.service.http.etags import matches
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Cursor, Items, Limit, PathId, Strict, problems

router = APIRouter(tags=["predictors"], responses=ALWAYS)

_BYTES = "application/octet-stream"
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "a safetensors file",
        "content": {_BYTES: {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "as before"},
}


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


@router.get("/predictors/{id}/file", response_class=Response, responses={**_FILE, **problems(404, 422)})
@requires("read")
def get_predictor_file(
    id: PathId, service: TheService, caller: TheCaller, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """The model's weights and the members: the file whose SHA-256 the certificate states as `predictor_sha256`."""
    with service.store.reading() as work:
        name = work.predictors.get(caller.tenant, id).artifact
    etag = f'"{name}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if matches(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    size, pieces = service.store.artifacts.checked_pieces(name)
    headers |= {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{id}.safetensors"'}
    return StreamingResponse(pieces, headers=headers, media_type=_BYTES)
