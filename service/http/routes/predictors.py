"""What is served, and how outcomes have treated it."""

from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import Field

from certiset.core.errors import OptionError
from certiset.core.jobs import deletion, naming, serving
from certiset.core.jobs.imports import import_predictor
from certiset.core.jobs.monitoring import monitor_of
from certiset.core.jobs.views import predictor_resource
from certiset.core.monitor_resources import Monitor
from certiset.core.resources import Predictor
from certiset.core.store.overview import NEWEST, OF_PREDICTORS, Wanted
from certiset.service.http.access.requirements import requires, upload_body
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheService
from certiset.service.http.routes.stored_files import stored_file
from certiset.service.http.routes.uploads import (
    answer_upload,
    form_of,
    on_disk,
    required_file,
    text_field,
    upload_route,
)
from certiset.service.http.schemas.common import ALWAYS, Items, Limit, PathId, PathReference, Strict, problems
from certiset.service.http.schemas.lists import AnyCursor, Search, SortedBy

router = APIRouter(tags=["predictors"], responses=ALWAYS)

_BYTES = "application/octet-stream"
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "a safetensors file",
        "content": {_BYTES: {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "as before"},
}


_FORM = {
    "file": {"type": "string", "format": "binary", "description": "predictor.safetensors, as it was saved"},
    "description": {"type": "string", "format": "binary", "description": "predictor.json, as it was saved"},
    "name": {"type": "string"},
}


class PredictorChange(Strict):
    """At least one of both."""

    serve: Literal["random", "best"] | None = None
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None


@router.post("/predictors", **upload_route(Predictor, "the same predictor is served already", _FORM, "file"))
@requires("write", action="predictor.import", largest_body=upload_body, to_disk=True)
async def upload_predictor(
    request: Request, response: Response, service: TheService, caller: TheCaller, store: ActingStore
) -> Any:
    """Takes over a predictor that was fitted elsewhere, if all that can be checked holds, and marks it as imported.

    The certificate is signed by this service with a word, among its names, that the data were not seen here.
    """
    async with form_of(request) as form:
        tensors, description = required_file(form, "file"), required_file(form, "description")
        name = text_field(form, "name")

        def add() -> tuple[Predictor, bool]:
            folder = service.settings.scratch
            with on_disk(tensors, folder) as file, on_disk(description, folder) as described:
                record, new = import_predictor(store, caller.tenant, described, file, name=name, signer=service.signer)
            # It may have been here before.
            with store.reading() as work:
                monitor = work.outcomes.monitor(caller.tenant, record.id)
            return predictor_resource(record, contradicted=monitor.contradicted_at is not None), new

        return await answer_upload(response, service, caller.tenant, "predictors", add)


@router.get("/predictors", response_model=Items[Predictor], responses=problems(422))
@requires("read")
def list_predictors(
    service: TheService,
    caller: TheCaller,
    search: Search = None,
    sort: SortedBy = NEWEST,
    status: Annotated[str | None, Query(pattern=f"^({'|'.join(OF_PREDICTORS)})$")] = None,
    limit: Limit = 50,
    cursor: AnyCursor = None,
) -> Any:
    """The next page needs the same `sort`."""
    with service.store.reading() as work:
        wanted = Wanted(search, status, only_predictors=True)
        page = work.overview.list(caller.tenant, wanted, sort, limit=limit, cursor=cursor)
        rows = [(row.summary.predictor_id, row.monitor) for row in page.items if row.summary is not None]
        records = work.predictors.of(caller.tenant, [id for id, _ in rows])
    contradicted = {id for id, monitor in rows if monitor is not None and monitor.contradicted_at is not None}
    items = [predictor_resource(record, contradicted=record.id in contradicted) for record in records]
    return Items(items=items, next_cursor=page.next_cursor)


@router.get("/predictors/{id}", response_model=Predictor, responses=problems(404, 422))
@requires("read")
def get_predictor(id: PathReference, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        id = work.deployments.predictor_of(caller.tenant, id)
        record, monitor = work.predictors.get(caller.tenant, id), work.outcomes.monitor(caller.tenant, id)
    return predictor_resource(record, contradicted=monitor.contradicted_at is not None)


@router.patch("/predictors/{id}", response_model=Predictor, responses=problems(400, 404, 409, 413, 422))
@requires("write", action="predictor.change")
async def change_predictor(
    id: PathId, body: PredictorChange, service: TheService, caller: TheCaller, store: ActingStore
) -> Any:
    """`serve: best` serves only the member with the smallest certified size, which is deterministic.

    Only certificates for every draw allow that: there each member keeps the promise by itself. A new `name` changes no
    certificate.
    """
    if body.serve is None and body.name is None:
        raise OptionError("Nothing is to be changed: give serve, name, or both.", field="serve")
    if body.serve is not None:
        record, contradicted = await run_sync(serving.change_serving, store, caller.tenant, id, body.serve)
        service.predictors.update(caller.tenant, id, serve=record.serve, contradicted=contradicted)
    if body.name is not None:
        record, contradicted = await run_sync(naming.rename_predictor, store, caller.tenant, id, body.name)
    return predictor_resource(record, contradicted=contradicted)


@router.delete("/predictors/{id}", status_code=204, response_class=Response, responses=problems(404, 409, 422))
@requires("write", action="predictor.delete")
async def delete_predictor(id: PathId, service: TheService, caller: TheCaller, store: ActingStore) -> None:
    """Ends its serving, everywhere within seconds; the certificate stays readable, marked as withdrawn."""
    await run_sync(deletion.delete_predictor, store, caller.tenant, id)
    service.predictors.forget(caller.tenant, id)


@router.get("/predictors/{id}/monitor", response_model=Monitor, responses=problems(404, 422))
@requires("read")
def get_monitor(id: PathReference, service: TheService, caller: TheCaller) -> Any:
    """How the served sets have done, and whether that contradicts what was promised.

    Of a deployment: those of the predictor that it stands for now.
    """
    with service.store.reading() as work:
        id = work.deployments.predictor_of(caller.tenant, id)
    return monitor_of(service.store, caller.tenant, id, service.settings.monitor_eta)


@router.get("/predictors/{id}/file", response_class=Response, responses={**_FILE, **problems(404, 422)})
@requires("read")
def get_predictor_file(
    id: PathReference, service: TheService, caller: TheCaller, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """The model's weights and the members: the file whose SHA-256 the certificate states as `predictor_sha256`."""
    with service.store.reading() as work:
        id = work.deployments.predictor_of(caller.tenant, id)
        artifact = work.predictors.get(caller.tenant, id).artifact
    return stored_file(service, artifact, if_none_match, filename=f"{id}.safetensors", media_type=_BYTES)
