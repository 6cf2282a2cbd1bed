"""Batches: sets for all rows of a data set, asked for with everything checked that can be, and answered by a worker."""

import hashlib
import json
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from certiset.core.batch_resources import Batch
from certiset.core.data.arrays import check_inputs
from certiset.core.data.case_names import CaseNames
from certiset.core.data.stored_rows import map_dataset
from certiset.core.errors import DataError
from certiset.core.jobs.announcer import Announcer
from certiset.core.jobs.calibrations import NAME_PATTERN, RecordId
from certiset.core.jobs.cancelling import cancel_job
from certiset.core.jobs.idempotency import find_same, queue_once
from certiset.core.jobs.views import instant
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.identifiers import REFERENCE_PATTERN
from certiset.core.store.quotas import Amounts
from certiset.core.store.store import Store, Transaction

if TYPE_CHECKING:
    from certiset.core.fit import Predictor

_ONE_MORE = Amounts(queued_jobs=1)
_ROWS_LOOKED_AT = 1000


class BatchRequest(BaseModel):
    """Whose sets are wanted for which rows."""

    model_config = ConfigDict(extra="forbid")

    predictor: Annotated[
        str, Field(pattern=REFERENCE_PATTERN, description="a predictor's id, or the name of a deployment")
    ]
    dataset_id: Annotated[RecordId, Field(description="the rows; their truths, if there are any, are not looked at")]
    alpha: Annotated[float, Field(gt=0, lt=1, strict=True)] | None = Field(
        None, description="the level that is asked for: needed where the promise is for all alpha at once"
    )
    cases: Annotated[str, Field(min_length=1, max_length=1000)] | None = Field(
        None, description="a column of the data set that names the case of each row, which has the same member again"
    )
    name: Annotated[str, Field(max_length=200, pattern=NAME_PATTERN, description="of the batch")] = ""

    @property
    def sha256(self) -> str:
        """Of the request as it was made."""
        given = self.model_dump(exclude_unset=True)
        return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def find_requested_batch(
    store: Store, tenant: str, request: BatchRequest, idempotency_key: str | None
) -> BatchRecord | None:
    """The batch of the same request, made before under that key."""
    with store.reading() as work:
        return find_same(work.batches, tenant, idempotency_key, request.sha256)


def check_batch(store: Store, tenant: str, request: BatchRequest, predictor: "Predictor") -> CaseNames | None:
    """Refuses what the worker would refuse, as far as a look at some rows can tell; the cases of all rows, if named.

    ``predictor`` is what the request's name stands for. An error names the field of the request.
    """
    from certiset.core.fit.frame_rows import frame_groups, frame_inputs  # noqa: PLC0415 (PyTorch)

    with store.reading() as work:
        work.tenants.check(tenant, _ONE_MORE)
        dataset = work.datasets.get(tenant, request.dataset_id)
    predictor.asked_at(request.alpha)
    try:
        with store.local_file(dataset.artifact) as file:
            frame = map_dataset(file).frame
            inputs = np.asarray(frame_inputs(predictor, frame))
            check_inputs(predictor.scorer.model, inputs[:_ROWS_LOOKED_AT])
            frame_groups(predictor, frame, len(inputs), "use certiset.batch in Python, and say the group of every row")
            return None if request.cases is None else CaseNames.of(frame, request.cases)
    except DataError as error:
        error.field = "cases" if error.field == "cases" else "dataset_id"
        raise


def request_batch(
    store: Store,
    tenant: str,
    request: BatchRequest,
    predictor_id: str,
    *,
    members: NDArray[np.int64] | None = None,
    idempotency_key: str | None = None,
    announcer: Announcer,
) -> BatchRecord:
    """Queues a batch that was checked, and tells the workers.

    ``predictor_id`` is what the request's name stands for; ``members`` say who answers for each row, where cases do.
    """
    kept = None if members is None else store.artifacts.put(members.astype("<i4").tobytes())
    options = {"alpha": request.alpha, "cases": request.cases}

    def find(work: Transaction) -> BatchRecord | None:
        return find_same(work.batches, tenant, idempotency_key, request.sha256)

    def create(work: Transaction) -> BatchRecord:
        work.tenants.admit(tenant, _ONE_MORE)
        record = work.batches.create(
            work.predictors.get(tenant, predictor_id),
            work.datasets.get(tenant, request.dataset_id),
            options,
            name=request.name,
            members_artifact=kept,
            idempotency_key=idempotency_key,
            request_sha256=request.sha256,
        )
        work.audit.add("batch.create", tenant, "batch", record.id)
        return record

    return queue_once(store, find, create, announcer)


def cancel_batch(store: Store, tenant: str, batch_id: str) -> BatchRecord:
    with store.writing() as work:
        return cancel_job(work, work.batches, tenant, batch_id)


def batch_resource(record: BatchRecord) -> Batch:
    return Batch.model_validate(
        {
            "id": record.id,
            "name": record.name,
            "status": record.status,
            "progress": record.progress,
            "error": record.error,
            "predictor_id": record.predictor_id,
            "dataset_id": record.dataset_id,
            "alpha": record.options.get("alpha"),
            "cases": record.options.get("cases"),
            "rows": record.rows,
            "bytes": None if record.artifact is None else record.stored_bytes,
            "sha256": record.artifact,
            "attempts": record.attempts,
            "cancel_requested": record.cancel_requested,
            "created_at": instant(record.created_at),
            "started_at": instant(record.started_at),
            "finished_at": instant(record.finished_at),
        }
    )
