"""Calibrations: asked for, watched, cancelled."""

from functools import partial
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Query, Request, Response

from certiset.core.jobs import calibrations, deletion
from certiset.core.jobs.calibrations import CalibrationRequest
from certiset.core.jobs.views import calibration_resource
from certiset.core.resources import Calibration
from certiset.core.store.records import STATUSES
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheListQuery, TheService
from certiset.service.http.routes.progress_events import event_stream
from certiset.service.http.schemas.common import ALWAYS, Items, PathId, problems

router = APIRouter(tags=["calibrations"], responses=ALWAYS)

IdempotencyKey = Annotated[str | None, Header(pattern=r"^[\x21-\x7e]{1,200}$")]
STATUS_PATTERN = f"^({'|'.join(STATUSES)})$"


@router.post("/calibrations", status_code=202, response_model=Calibration, responses=problems(400, 404, 409, 413, 422))
@requires("write", action="calibration.create")
async def create_calibration(
    body: CalibrationRequest,
    response: Response,
    service: TheService,
    caller: TheCaller,
    store: ActingStore,
    idempotency_key: IdempotencyKey = None,
) -> Any:
    """Checks everything that can be checked without fitting, then queues the fit."""
    # Whoever only asks again need not wait until others' data are checked.
    record = await run_sync(calibrations.find_requested, store, caller.tenant, body, idempotency_key)
    if record is None:
        request = partial(
            calibrations.request_calibration,
            idempotency_key=idempotency_key,
            announcer=service.announcer,
            graphs=service.graphs.of(caller.tenant),
        )
        record = await run_sync(request, store, caller.tenant, body, limiter=service.check_slots.of(caller.tenant))
    response.headers["Location"] = f"/calibrations/{record.id}"
    return calibration_resource(record)


@router.get("/calibrations", response_model=Items[Calibration], responses=problems(422))
@requires("read")
def list_calibrations(
    service: TheService,
    caller: TheCaller,
    query: TheListQuery,
    status: Annotated[str | None, Query(pattern=STATUS_PATTERN)] = None,
) -> Any:
    with service.store.reading() as work:
        page = query.page(work.calibrations, caller.tenant, status=status)
    return Items.of(page, calibration_resource)


@router.get("/calibrations/{id}", response_model=Calibration, responses=problems(404, 422))
@requires("read")
def get_calibration(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        return calibration_resource(work.calibrations.get(caller.tenant, id))


@router.post("/calibrations/{id}/cancel", status_code=202, response_model=Calibration, responses=problems(404, 422))
@requires("write", action="calibration.cancel")
def cancel_calibration(id: PathId, caller: TheCaller, store: ActingStore) -> Any:
    """Ends a queued one at once and a running one within seconds; a finished one is not changed."""
    return calibration_resource(calibrations.cancel_calibration(store, caller.tenant, id))


@router.delete("/calibrations/{id}", status_code=204, response_class=Response, responses=problems(404, 409, 422))
@requires("write", action="calibration.delete")
def delete_calibration(id: PathId, caller: TheCaller, store: ActingStore) -> None:
    """Removes the record of one that has ended; its predictor and certificate stay."""
    deletion.delete_calibration(store, caller.tenant, id)


@router.get(
    "/calibrations/{id}/events",
    response_class=Response,
    responses={
        **problems(404, 422),
        200: {"description": "server-sent events", "content": {"text/event-stream": {}}},
    },
)
@requires("read")
async def watch_calibration(
    id: PathId,
    request: Request,
    service: TheService,
    caller: TheCaller,
    last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,18}$")] = None,
) -> Any:
    """One `progress` event per report and one `done`; all from the first on, or those after `Last-Event-ID`."""
    return await event_stream(service, caller, id, request, int(last_event_id) if last_event_id else 0)
