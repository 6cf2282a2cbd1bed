"""Calibration data."""

import math
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from core.intake import add_dataset
from core.store.garbage import discard_unnamed
from core.store.records import Dataset
from service.dataset_rows import rows_of
from service.problems import ProblemError
from service.routes.dependencies import TheCaller, TheService
from service.routes.uploads import UPLOADS, file_field, form_of, on_disk, text_field
from service.schemas.common import ALWAYS, Cursor, Items, Limit, PathId, problems
from service.schemas.resources import DatasetAnswer, RowsAnswer

router = APIRouter(tags=["datasets"], responses=ALWAYS)

_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary", "description": ".npz, .csv, .parquet or .json"},
                        "name": {"type": "string", "maxLength": 200},
                        "target": {"type": "string", "default": "y", "description": "column of y, or several"},
                    },
                }
            }
        },
    }
}
_JUST_WRITTEN_SECONDS = 60.0
_MOST_NUMBERS = 200_000
"""of x in one answer"""

Start = Annotated[int, Query(ge=0, le=2**53, description="the first row, counted from 0")]
RowLimit = Annotated[int, Query(ge=1, le=200, description="at most so many rows")]


@router.post(
    "/datasets",
    status_code=201,
    response_model=DatasetAnswer,
    responses={
        **problems(400, 413, 415, 422, 507),
        200: {"model": DatasetAnswer, "description": "these bytes were here"},
    },
    openapi_extra=_FORM,
)
async def upload_dataset(request: Request, response: Response, service: TheService, caller: TheCaller) -> Any:
    """Takes a file of calibration data; the same bytes again are the same dataset."""
    async with form_of(request) as form:
        file = file_field(form, "file")
        assert file is not None
        name, target = text_field(form, "name"), text_field(form, "target", "y", longest=1000)

        def store() -> tuple[Dataset, bool]:
            with on_disk(file, service.settings.home / "uploads") as path:
                assert path is not None
                given = file.filename or ""
                return add_dataset(service.store, caller.tenant, path, filename=given, name=name, target=target)

        record, made = await run_sync(store, limiter=UPLOADS)
    response.status_code = 201 if made else 200
    response.headers["Location"] = f"/datasets/{record.id}"
    return DatasetAnswer.of(record)


@router.get("/datasets", response_model=Items[DatasetAnswer], responses=problems(422))
def list_datasets(service: TheService, caller: TheCaller, limit: Limit = 50, cursor: Cursor = None) -> Any:
    with service.store.reading() as work:
        page = work.datasets.list(caller.tenant, limit=limit, cursor=cursor)
    return Items(items=[DatasetAnswer.of(record) for record in page.items], next_cursor=page.next_cursor)


@router.get("/datasets/{id}", response_model=DatasetAnswer, responses=problems(404, 422))
def get_dataset(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        return DatasetAnswer.of(work.datasets.get(caller.tenant, id))


@router.get("/datasets/{id}/rows", response_model=RowsAnswer, responses=problems(404, 422))
def get_rows(id: PathId, service: TheService, caller: TheCaller, start: Start = 0, limit: RowLimit = 20) -> Any:
    """Some rows as they were read, to look at; wide rows come a few at a time."""
    with service.store.reading() as work:
        record = work.datasets.get(caller.tenant, id)
    x, y = rows_of(service.store.artifacts, record, start, limit, most_numbers=_MOST_NUMBERS)
    return RowsAnswer(start=start, rows=record.rows, x=x.reshape(len(x), math.prod(x.shape[1:])).tolist(), y=y.tolist())


@router.delete("/datasets/{id}", status_code=204, response_class=Response, responses=problems(404, 409, 422))
def delete_dataset(id: PathId, service: TheService, caller: TheCaller) -> None:
    """Removes the data; predictors and certificates made with them go on working."""
    with service.store.writing() as work:
        record = work.datasets.get(caller.tenant, id)
        if work.calibrations.uses_dataset(id):
            raise ProblemError(409, "A calibration that needs this dataset has not ended: cancel it first.")
        work.datasets.delete(record)
    discard_unnamed(service.store, record.artifact, _JUST_WRITTEN_SECONDS)
