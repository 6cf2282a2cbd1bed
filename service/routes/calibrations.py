"""Calibrations: asked for, watched, cancelled."""

import hashlib
import json
import re
from typing import Annotated, Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Query, Request, Response
from safetensors.torch import load

from core.bounds import BoundsError
from core.datasets import DatasetArrays
from core.errors import DataError, ModelError, OptionError
from core.fit import check
from core.models import Model
from core.store.errors import DOUBLE
from core.store.records import STATUSES, Calibration, Dataset, ModelRecord
from service.access.keys import Caller
from service.problems import ProblemError, wrong_field
from service.routes.dependencies import TheCaller, TheService
from service.routes.progress_events import event_stream
from service.schemas.calibration_request import CalibrationRequest
from service.schemas.common import ALWAYS, Cursor, Items, Limit, PathId, problems
from service.schemas.resources import CalibrationAnswer
from service.state import Service

router = APIRouter(tags=["calibrations"], responses=ALWAYS)

IdempotencyKey = Annotated[str | None, Header(pattern=r"^[\x21-\x7e]{1,200}$")]
_STATUS_PATTERN = f"^({'|'.join(STATUSES)})$"
_checking = CapacityLimiter(2)
"""data sets that are held against their model at the same time"""


@router.post(
    "/calibrations",
    status_code=202,
    response_model=CalibrationAnswer,
    responses=problems(400, 404, 409, 413, 422),
)
async def create_calibration(
    body: CalibrationRequest,
    response: Response,
    service: TheService,
    caller: TheCaller,
    idempotency_key: IdempotencyKey = None,
) -> Any:
    """Checks everything that can be checked without fitting, then queues the fit."""
    digest = hashlib.sha256(json.dumps(body.model_dump(exclude_unset=True), sort_keys=True).encode()).hexdigest()
    record = await run_sync(_known, service, caller, idempotency_key, digest)
    if record is None:
        dataset, model = await run_sync(_inputs, service, caller, body)
        await run_sync(_check, service, dataset, model, body.options(), limiter=_checking)
        record = await run_sync(_create, service, caller, dataset, model, body, idempotency_key, digest)
    response.headers["Location"] = f"/calibrations/{record.id}"
    return CalibrationAnswer.of(record)


@router.get("/calibrations", response_model=Items[CalibrationAnswer], responses=problems(422))
def list_calibrations(
    service: TheService,
    caller: TheCaller,
    status: Annotated[str | None, Query(pattern=_STATUS_PATTERN)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Any:
    with service.store.reading() as work:
        page = work.calibrations.list(caller.tenant, status=status, limit=limit, cursor=cursor)
    return Items(items=[CalibrationAnswer.of(record) for record in page.items], next_cursor=page.next_cursor)


@router.get("/calibrations/{id}", response_model=CalibrationAnswer, responses=problems(404, 422))
def get_calibration(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        return CalibrationAnswer.of(work.calibrations.get(caller.tenant, id))


@router.post(
    "/calibrations/{id}/cancel", status_code=202, response_model=CalibrationAnswer, responses=problems(404, 422)
)
def cancel_calibration(id: PathId, service: TheService, caller: TheCaller) -> Any:
    """Ends a queued one at once and a running one within seconds; a finished one stays what it is."""
    with service.store.writing() as work:
        work.calibrations.get(caller.tenant, id)
        return CalibrationAnswer.of(work.calibrations.cancel(id))


@router.get(
    "/calibrations/{id}/events",
    response_class=Response,
    responses={
        **problems(404, 422),
        200: {"description": "server-sent events", "content": {"text/event-stream": {}}},
    },
)
async def watch_calibration(
    id: PathId,
    request: Request,
    service: TheService,
    caller: TheCaller,
    last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,18}$")] = None,
) -> Any:
    """One `progress` event a report and one `done`; all from the first on, or those after `Last-Event-ID`."""
    return await event_stream(service, caller, id, request, int(last_event_id) if last_event_id else 0)


def _known(service: Service, caller: Caller, key: str | None, digest: str) -> Calibration | None:
    """The calibration of the same request, asked for before under that key."""
    if key is None:
        return None
    with service.store.reading() as work:
        found = work.calibrations.by_idempotency_key(caller.tenant, key)
    if found is not None and found.request_sha256 != digest:
        raise ProblemError(409, "This Idempotency-Key was used for another request.")
    return found


def _inputs(service: Service, caller: Caller, body: CalibrationRequest) -> tuple[Dataset, ModelRecord]:
    with service.store.reading() as work:
        return work.datasets.get(caller.tenant, body.dataset_id), work.models.get(caller.tenant, body.model_id)


def _check(service: Service, dataset: Dataset, model: ModelRecord, options: dict[str, Any]) -> None:
    """Refuses, with the field at fault, what the fit would refuse."""
    arrays = DatasetArrays.from_bytes(service.store.artifacts.get(dataset.artifact))
    built = Model.from_manifest(model.manifest, load(service.store.artifacts.get(model.artifact)))
    try:
        check(built, arrays.x, arrays.y, **{**options, "device": "cpu"})
    except ModelError as error:
        raise wrong_field("model_id", str(error)) from None
    except (OptionError, BoundsError) as error:
        raise wrong_field(_field_in(str(error), options), str(error)) from None
    except DataError as error:
        raise wrong_field("dataset_id", str(error)) from None


def _field_in(message: str, options: dict[str, Any]) -> str:
    """The option that a refusal speaks of first."""
    names = sorted({*CalibrationRequest.model_fields, *options}, key=len, reverse=True)
    found = re.search(rf"\b({'|'.join(names)})(\.\w+)?\b", message)
    return found[0] if found else "dataset_id"


def _create(
    service: Service,
    caller: Caller,
    dataset: Dataset,
    model: ModelRecord,
    body: CalibrationRequest,
    key: str | None,
    digest: str,
) -> Calibration:
    try:
        with service.store.writing() as work:
            # Looked up again: either may have been deleted while the data were checked.
            record = work.calibrations.create(
                work.datasets.get(caller.tenant, dataset.id),
                work.models.get(caller.tenant, model.id),
                body.options(),
                name=body.name,
                idempotency_key=key,
                request_sha256=digest,
            )
    except DOUBLE:
        found = _known(service, caller, key, digest)
        if found is None:
            raise
        return found
    service.queue.announce(record.id)
    return record
