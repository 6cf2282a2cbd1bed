"""Calibrations: asked for, with everything checked that can be checked without fitting, cancelled, and retried."""

import hashlib
import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from certiset.core.bounds import TooFewPointsError
from certiset.core.data.stored_rows import map_dataset
from certiset.core.errors import CertisetError, DataError, ModelError
from certiset.core.fit.options import FitOptions
from certiset.core.jobs.announcer import Announcer
from certiset.core.jobs.cancelling import cancel_job
from certiset.core.jobs.idempotency import find_same, queue_once
from certiset.core.store.identifiers import ID_PATTERN
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import Calibration, Dataset, ModelRecord
from certiset.core.store.store import Store, Transaction

if TYPE_CHECKING:
    from certiset.core.graphs import GraphOpener, RowProof

RecordId = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra={"pattern": ID_PATTERN})]
"""of another form it is not found, and if it is a name, the error says whose"""
_ONE_MORE = Amounts(queued_jobs=1, predictors=1)
NAME_PATTERN = r"^[^\x00-\x1f\x7f]*$"


class CalibrationRequest(FitOptions):
    """The options of a fit, and what is to be calibrated on what."""

    dataset_id: Annotated[RecordId, Field(description="the calibration data")]
    model_id: Annotated[RecordId, Field(description="the model to calibrate")]
    name: Annotated[str, Field(max_length=200, pattern=NAME_PATTERN, description="of the calibration")] = ""
    target_dataset_id: Annotated[str, Field(pattern=ID_PATTERN)] | None = Field(
        None, description="inputs without truths of another population, for which weights are estimated"
    )

    @property
    def sha256(self) -> str:
        """Of the request as it was made: without defaults, which may be others in the next version."""
        derived = {"alpha"} if self.confidence_level is not None else None
        given = self.model_dump(exclude_unset=True, exclude=derived)
        return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def request_calibration(
    store: Store,
    tenant: str,
    request: CalibrationRequest,
    *,
    idempotency_key: str | None = None,
    announcer: Announcer,
    graphs: "GraphOpener | None" = None,
) -> Calibration:
    """Queues a fit and tells the workers.

    Whatever the fit would refuse is refused here; an error names the field of the request at fault. The same request
    under the same key is the same calibration.
    """
    known = find_requested(store, tenant, request, idempotency_key)
    if known is not None:
        return known
    with store.reading() as work:
        work.tenants.check(tenant, _ONE_MORE)
        dataset = work.datasets.get(tenant, request.dataset_id)
        model = work.models.get(tenant, request.model_id)
        target = _target(work, tenant, request)
    options, row_proof = _checked(store, request, dataset, model, target, graphs)

    def find(work: Transaction) -> Calibration | None:
        return find_same(work.calibrations, tenant, idempotency_key, request.sha256)

    def create(work: Transaction) -> Calibration:
        work.tenants.admit(tenant, _ONE_MORE)
        # Looked up again: either may have been deleted while the data were checked.
        current = work.models.get(tenant, model.id)
        # A model may have been uploaded when less was known of graphs, or nothing.
        current.rows, current.rows_reason = row_proof.rows, row_proof.reason
        record = work.calibrations.create(
            work.datasets.get(tenant, dataset.id),
            current,
            options,
            name=request.name,
            idempotency_key=idempotency_key,
            request_sha256=request.sha256,
            target=_target(work, tenant, request),
        )
        work.audit.add("calibration.create", tenant, "calibration", record.id)
        return record

    return queue_once(store, find, create, announcer)


def find_requested(
    store: Store, tenant: str, request: CalibrationRequest, idempotency_key: str | None
) -> Calibration | None:
    """The calibration of the same request, made before under that key."""
    with store.reading() as work:
        return find_same(work.calibrations, tenant, idempotency_key, request.sha256)


def cancel_calibration(store: Store, tenant: str | None, calibration_id: str) -> Calibration:
    with store.writing() as work:
        return cancel_job(work, work.calibrations, tenant, calibration_id)


def retry_calibration(store: Store, calibration_id: str, announcer: Announcer) -> Calibration:
    """Requeues a failed or cancelled one of any tenant, and tells the workers."""
    with store.writing() as work:
        record = work.calibrations.retry(calibration_id)
        work.audit.add("calibration.retry", record.tenant, "calibration", record.id)
    announcer.announce(record.id)
    return record


def _target(work: Transaction, tenant: str, request: CalibrationRequest) -> Dataset | None:
    """The dataset of target inputs, if one is named."""
    if request.target_dataset_id is None:
        return None
    if request.target_dataset_id == request.dataset_id:
        raise DataError(
            "The target inputs are the calibration data: weights are for another population.", field="target_dataset_id"
        )
    return work.datasets.get(tenant, request.target_dataset_id)


def _checked(
    store: Store,
    request: CalibrationRequest,
    dataset: Dataset,
    model: ModelRecord,
    target: Dataset | None,
    graphs: "GraphOpener | None",
) -> tuple[dict[str, Any], "RowProof"]:
    """All options, with the defaults for this model: those of a later version must not change a queued fit.

    And how the model treats rows, which is known once it is built.
    """
    from safetensors.torch import load_file  # noqa: PLC0415 (PyTorch: cancelling and retrying do without)

    from certiset.core.fit import check  # noqa: PLC0415
    from certiset.core.graphs import GraphHost  # noqa: PLC0415
    from certiset.core.models import Model  # noqa: PLC0415

    try:
        # Looked at in files of this machine: data of gigabytes must not take the memory of the API.
        with (
            store.local_file(dataset.artifact) as file,
            store.local_file(model.artifact) as weights,
            ExitStack() as open_files,
        ):
            built = Model.from_manifest(model.manifest, load_file(weights), graphs=graphs or GraphHost())
            data, others = map_dataset(file), None
            if target is not None:
                others = map_dataset(open_files.enter_context(store.local_file(target.artifact))).frame
            # Weights are estimated by the worker: that takes the time of a fit.
            _, plan = check(built, data.frame, data.truths, target=others, estimate=False, **request.to_json())
    except (DataError, TooFewPointsError) as error:
        error.field = _field(error, "dataset_id")
        raise
    except ModelError as error:
        error.field = _field(error, "model_id")
        raise
    return plan.options.to_json(), built.backbone.row_proof


def _field(error: CertisetError, otherwise: str) -> str:
    """The field of the request that an error is about, which the fit may know by another name."""
    if error.field == "target":
        return "target_dataset_id"
    named = error.field is not None and error.field.partition(".")[0] in CalibrationRequest.model_fields
    return str(error.field) if named else otherwise
