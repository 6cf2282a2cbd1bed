"""Batches: sets for all rows of a data set, asked for, watched, fetched."""

from functools import partial
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Query, Response

from certiset.core.batch_resources import Batch
from certiset.core.errors import ConflictError
from certiset.core.jobs import deletion
from certiset.core.jobs.batches import (
    BatchRequest,
    batch_resource,
    cancel_batch,
    check_batch,
    find_requested_batch,
    request_batch,
)
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.calibrations import STATUS_PATTERN, IdempotencyKey
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheListQuery, TheService
from certiset.service.http.routes.stored_files import stored_file
from certiset.service.http.schemas.common import ALWAYS, Items, PathId, problems
from certiset.service.serving.case_members import case_members

router = APIRouter(tags=["batches"], responses=ALWAYS)

_PARQUET = "application/vnd.apache.parquet"
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "a Parquet file, one row for each of the data set's, in their order",
        "content": {_PARQUET: {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "as before"},
}


@router.post("/batches", status_code=202, response_model=Batch, responses=problems(400, 404, 409, 413, 422))
@requires("write", action="batch.create")
async def create_batch(
    body: BatchRequest,
    response: Response,
    service: TheService,
    caller: TheCaller,
    store: ActingStore,
    idempotency_key: IdempotencyKey = None,
) -> Any:
    """Checks what can be checked by a look at some rows, then queues the batch.

    Groups are read from the columns that the predictor's calibration named. Each row draws its own member, or has that
    of its case. The sets are nobody's predictions: they have no ids, and no outcomes are reported for them.
    """
    tenant = caller.tenant
    record = await run_sync(find_requested_batch, store, tenant, body, idempotency_key)
    if record is None:
        cached, _ = await service.sets.find(tenant, body.predictor)
        slots = service.check_slots.of(tenant)
        cases = await run_sync(check_batch, store, tenant, body, cached.predictor, limiter=slots)
        members = None if cases is None else await case_members(service.sets, cached, cases)
        queue = partial(request_batch, members=members, idempotency_key=idempotency_key, announcer=service.announcer)
        record = await run_sync(queue, store, tenant, body, cached.id)
    response.headers["Location"] = f"/batches/{record.id}"
    return batch_resource(record)


@router.get("/batches", response_model=Items[Batch], responses=problems(422))
@requires("read")
def list_batches(
    service: TheService,
    caller: TheCaller,
    query: TheListQuery,
    status: Annotated[str | None, Query(pattern=STATUS_PATTERN)] = None,
) -> Any:
    with service.store.reading() as work:
        page = query.page(work.batches, caller.tenant, status=status)
    return Items.of(page, batch_resource)


@router.get("/batches/{id}", response_model=Batch, responses=problems(404, 422))
@requires("read")
def get_batch(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        return batch_resource(work.batches.get(caller.tenant, id))


@router.get("/batches/{id}/file", response_class=Response, responses={**_FILE, **problems(404, 409, 422)})
@requires("read")
def get_batch_file(
    id: PathId, service: TheService, caller: TheCaller, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """The sets, once the batch has succeeded; its `sha256` is the file's."""
    with service.store.reading() as work:
        record = work.batches.get(caller.tenant, id)
    if record.artifact is None:
        raise ConflictError(f"Batch {id} is {record.status}: only one that has succeeded has a file.")
    name = f"{id}.parquet"
    return stored_file(service, record.artifact, if_none_match, filename=name, media_type=_PARQUET)


@router.post("/batches/{id}/cancel", status_code=202, response_model=Batch, responses=problems(404, 422))
@requires("write", action="batch.cancel")
def cancel(id: PathId, caller: TheCaller, store: ActingStore) -> Any:
    """Ends a queued one at once and a running one within seconds; a finished one is not changed."""
    return batch_resource(cancel_batch(store, caller.tenant, id))


@router.delete("/batches/{id}", status_code=204, response_class=Response, responses=problems(404, 409, 422))
@requires("write", action="batch.delete")
def delete_batch(id: PathId, caller: TheCaller, store: ActingStore) -> None:
    """Removes one that has ended, with its file."""
    deletion.delete_batch(store, caller.tenant, id)
