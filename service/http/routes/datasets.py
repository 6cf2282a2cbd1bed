"""Calibration data, and inputs without truths."""

import math
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from certiset.core.data import suffix_list
from certiset.core.data.frame import column_values
from certiset.core.data.stored_rows import read_class_names, read_columns, read_further, read_rows
from certiset.core.jobs import add_dataset, deletion, naming
from certiset.core.jobs.datasets import described_columns
from certiset.core.jobs.views import dataset_resource
from certiset.core.resources import Dataset, DatasetRows
from certiset.service.http.access.requirements import requires, upload_body
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheListQuery, TheService
from certiset.service.http.routes.uploads import (
    answer_upload,
    form_of,
    on_disk,
    required_file,
    text_field,
    upload_route,
)
from certiset.service.http.schemas.common import ALWAYS, Items, NameRequest, PathId, problems

router = APIRouter(tags=["datasets"], responses=ALWAYS)

_FIELDS = {
    "file": {"type": "string", "format": "binary", "description": suffix_list()},
    "name": {"type": "string", "maxLength": 200},
    "target": {
        "type": "string",
        "default": "y",
        "description": "column of y, or several; empty: the file has inputs without truths",
    },
}
_MOST_NUMBERS = 200_000
"""of x in one answer"""

Start = Annotated[int, Query(ge=0, le=2**53, description="the first row, counted from 0")]
RowLimit = Annotated[int, Query(ge=1, le=200, description="maximum number of rows")]


@router.post("/datasets", **upload_route(Dataset, "the same bytes were uploaded before", _FIELDS, "file"))
@requires("write", action="dataset.create", largest_body=upload_body, to_disk=True)
async def upload_dataset(
    request: Request, response: Response, service: TheService, caller: TheCaller, store: ActingStore
) -> Any:
    """Takes a file of calibration data; the same bytes again are the same dataset."""
    async with form_of(request) as form:
        file = required_file(form, "file")
        name, target = text_field(form, "name"), text_field(form, "target", "y", longest=1000)

        def add() -> tuple[Dataset, bool]:
            with on_disk(file, service.settings.scratch) as path:
                record, new = add_dataset(
                    store, caller.tenant, path, filename=file.filename or "", name=name, target=target
                )
            return dataset_resource(record, described_columns(store, record)), new

        return await answer_upload(response, service, caller.tenant, "datasets", add)


@router.get("/datasets", response_model=Items[Dataset], responses=problems(422))
@requires("read")
def list_datasets(service: TheService, caller: TheCaller, query: TheListQuery) -> Any:
    with service.store.reading() as work:
        page = query.page(work.datasets, caller.tenant)
    return Items.of(page, dataset_resource)


@router.get("/datasets/{id}", response_model=Dataset, responses=problems(404, 422))
@requires("read")
def get_dataset(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        record = work.datasets.get(caller.tenant, id)
    return dataset_resource(record, described_columns(service.store, record))


@router.get("/datasets/{id}/rows", response_model=DatasetRows, responses=problems(404, 422))
@requires("read")
def get_rows(id: PathId, service: TheService, caller: TheCaller, start: Start = 0, limit: RowLimit = 20) -> Any:
    """Some rows as they were read, to look at; wide rows come a few at a time."""
    with service.store.reading() as work:
        record = work.datasets.get(caller.tenant, id)
    read = partial(service.store.artifacts.part, record.artifact)
    x, y = read_rows(read, start, limit, most_numbers=_MOST_NUMBERS)
    described, further = read_columns(read), read_further(read, start, len(x))
    flat = x.reshape(len(x), math.prod(x.shape[1:])).tolist()
    return DatasetRows(
        start=start,
        rows=record.rows,
        # JSON has no NaN.
        x=tuple(tuple(None if value != value else value for value in row) for row in flat),  # noqa: PLR0124
        y=y.tolist() if y.size else (),
        columns=described["names"] if described is not None else None,
        further={name: column_values(column) for name, column in further.items()} or None,
        y_names=read_class_names(read),
    )


@router.patch("/datasets/{id}", response_model=Dataset, responses=problems(400, 404, 413, 422))
@requires("write", action="dataset.rename")
def rename_dataset(id: PathId, body: NameRequest, caller: TheCaller, store: ActingStore) -> Any:
    """A new name; certificates keep the one that they were issued with."""
    record = naming.rename_dataset(store, caller.tenant, id, body.name)
    return dataset_resource(record, described_columns(store, record))


@router.delete("/datasets/{id}", status_code=204, response_class=Response, responses=problems(404, 409, 422))
@requires("write", action="dataset.delete")
def delete_dataset(id: PathId, caller: TheCaller, store: ActingStore) -> None:
    """Removes the data; predictors and certificates made with them go on working."""
    deletion.delete_dataset(store, caller.tenant, id)
