"""Blocks of outcomes become predictors: every worker's sweeper takes each of them one step further.

    open ──rows, or time──> closed ──data set and calibration──> calibrating ──succeeded──> served
                              │                                     └──failed──> failed
                              └── and, after a contradiction or a change by hand, from each of them: dropped

Of two workers that take the same step, both make the same data set and ask for the same calibration, and one of them
writes it down: bytes, names and the idempotency key are those of the block. A worker that is killed in between leaves
a block that the next sweep finds as it was.
"""

import logging
from collections.abc import Callable
from typing import Any

from certiset.core.certificate.content import DeploymentAccount
from certiset.core.certificate.deployment_account import deployment_account
from certiset.core.errors import (
    CertisetError,
    ConflictError,
    NotFoundError,
    QuotaExceededError,
    StoreError,
    first_line,
)
from certiset.core.jobs.block_data import ORDER, block_name, keeps_members, make_dataset, set_base
from certiset.core.jobs.collecting import end_block, end_pool
from certiset.core.jobs.deletion import delete_dataset
from certiset.core.jobs.insert import insert_or_get
from certiset.core.jobs.recipes import lacks_rows, options_of
from certiset.core.store.deployment_records import DeploymentBlockRecord, DeploymentRecord, DeploymentRowRecord
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import Calibration, Dataset
from certiset.core.store.store import Store, Transaction

_log = logging.getLogger(__name__)
_RETRY_SECONDS = 60.0
_DAY = 86400.0


def advance_deployments(store: Store, announce: Callable[[str], object]) -> None:
    """Ends blocks whose time has come, asks for calibrations of those that have ended, and switches."""
    with store.reading() as work:
        ended, due = work.blocks.ended(work.deployments.time()), list(work.blocks.due())
    for tenant, name in ended:
        _end_by_calendar(store, tenant, name)
    for block in due:
        try:
            if block.state == "closed":
                _request(store, block, announce)
            else:
                _finish(store, block)
        except StoreError:
            raise
        except CertisetError as error:
            _log.warning("block %d of %s: %s", block.number, block.name, first_line(error))
            _fail(store, block, error)


def account_for(work: Transaction, calibration: Calibration) -> DeploymentAccount | None:
    """What the certificate says of the deployment that asked for this calibration; None if none did."""
    key = calibration.idempotency_key
    block = None if key is None else work.blocks.of_request(calibration.tenant, key)
    record = None if block is None else work.deployments.of_token(block.tenant, block.token)
    if block is None or record is None:
        return None
    spend = None if record.spend is None else (float(record.spend["total"]), int(record.spend["over"]))
    kept = None
    if calibration.options.get("order") == ORDER:
        kept = work.datasets.get(calibration.tenant, calibration.dataset_id).rows - block.rows
    return deployment_account(record.name, block.number, block.rows, block.issued, block.spent, spend, kept)


def forget_collected(store: Store) -> int:
    """Deletes rows, and data sets made of them, that are older than the settings allow; returns how many rows."""
    with store.reading() as work:
        before = work.deployments.time() - _DAY * store.settings.collected_days
        outdated = list(work.blocks.outdated_datasets(before))
    for block in outdated:
        try:
            delete_dataset(store, block.tenant, str(block.dataset_id))
        except NotFoundError:
            pass
        except ConflictError:
            # A calibration still needs it; there is a next time.
            continue
        with store.writing() as work:
            found = work.blocks.get(block)
            if found is not None:
                found.dataset_id = None
    removed = 0
    while True:
        with store.writing() as work:
            rows = list(work.blocks.outdated_rows(before))
            for row in rows:
                _remove_row(work, row)
        removed += len(rows)
        if not rows:
            return removed


def _remove_row(work: Transaction, row: DeploymentRowRecord) -> None:
    record = work.deployments.of_token(row.tenant, row.token, lock=True)
    if record is not None and record.block == row.block:
        record.block_rows -= 1
    work.session.delete(row)


def _end_by_calendar(store: Store, tenant: str, name: str) -> None:
    with store.writing() as work:
        record = work.deployments.find(tenant, name, lock=True)
        now = work.deployments.time()
        if record is None or (tenant, name) not in work.blocks.ended(now):
            return
        lacking = lacks_rows(record, record.block_rows)
        if lacking is None:
            end_block(work, record)
            return
        # By their number alone, whatever they hold.
        record.block_began = now
        reason = f"{lacking} The block goes on until the next date."
        work.deployments.record_event(record, "failed", {"block": record.block, "reason": reason})


def _request(store: Store, block: DeploymentBlockRecord, announce: Callable[[str], object]) -> None:
    with store.reading() as work:
        record = work.deployments.of_token(block.tenant, block.token)
        rows = list(work.blocks.rows(block))
        waits = work.blocks.waits(block)
    if record is None or record.recipe is None or not rows:
        raise NotFoundError("Its rows, or the deployment, are gone.")
    if waits and keeps_members(record):
        # The pool that this one goes on from is not there yet.
        return
    dataset, changes = make_dataset(store, record, block, rows)
    made = _queued(store, block, record, dataset, {**options_of(record), **changes})
    announce(made.id)
    with store.writing() as work:
        record = work.deployments.of_token(block.tenant, block.token, lock=True)
        found = work.blocks.get(block)
        if record is None or found is None or found.state == "dropped":
            # Something came in between: nobody waits for it.
            work.calibrations.cancel(made.id)
            return
        if found.state != "closed":
            return
        found.state, found.dataset_id, found.calibration_id = "calibrating", dataset.id, made.id
        work.blocks.remove_rows(block)
        details = {"block": block.number, "rows": block.rows, "calibration": made.id}
        work.deployments.record_event(record, "calibrating", details)


def _queued(
    store: Store, block: DeploymentBlockRecord, record: DeploymentRecord, dataset: Dataset, options: dict[str, Any]
) -> Calibration:
    """The calibration of a block, new or known. What can be checked without a fit was checked for the first one: a
    worker builds no models but in its fitting process, which says what is wrong with these rows."""
    assert record.recipe is not None
    model_id, tenant = record.recipe["model_id"], block.tenant

    def create(work: Transaction) -> Calibration:
        work.tenants.admit(tenant, Amounts(queued_jobs=1, predictors=1))
        made = work.calibrations.create(
            work.datasets.get(tenant, dataset.id),
            work.models.get(tenant, model_id),
            options,
            name=block_name(block),
            idempotency_key=block.request_key,
        )
        work.audit.add("calibration.create", tenant, "calibration", made.id)
        return made

    return insert_or_get(store, lambda work: work.calibrations.by_idempotency_key(tenant, block.request_key), create)[0]


def _finish(store: Store, block: DeploymentBlockRecord) -> None:
    with store.writing() as work:
        work.tenants.lock(block.tenant)
        record = work.deployments.of_token(block.tenant, block.token, lock=True)
        found = work.blocks.get(block)
        if found is None or found.state != "calibrating":
            return
        if record is None or work.blocks.later_is_served(block):
            found.state = "dropped"
            return
        calibration = None if found.calibration_id is None else work.calibrations.find(found.calibration_id)
        if calibration is None or calibration.status != "succeeded" or calibration.predictor_id is None:
            reason = "The calibration was deleted." if calibration is None else calibration.error or calibration.status
            _write_failure(work, record, found, reason)
            return
        predictor = work.predictors.get(block.tenant, calibration.predictor_id)
        found.state = "served"
        record.generations += 1
        work.deployments.switch(record, predictor.id)
        set_base(record, found.dataset_id)
        details = {"block": block.number, "rows": block.rows, "issued": block.issued, "calibration": calibration.id}
        work.deployments.record_event(record, "recalibrated", details)
        work.audit.add("deployment.recalibrate", block.tenant, "deployment", record.name, details=details)


def _fail(store: Store, block: DeploymentBlockRecord, error: CertisetError) -> None:
    """For good, unless waiting may help."""
    with store.writing() as work:
        record = work.deployments.of_token(block.tenant, block.token, lock=True)
        found = work.blocks.get(block)
        if found is None or found.state != block.state:
            # Another worker was quicker.
            return
        if record is None:
            found.state = "dropped"
        elif isinstance(error, QuotaExceededError):
            if found.retry_at == 0.0:
                work.deployments.record_event(record, "failed", {"block": block.number, "reason": str(error)})
            found.retry_at = work.deployments.time() + _RETRY_SECONDS
        else:
            _write_failure(work, record, found, str(error))


def _write_failure(work: Transaction, record: DeploymentRecord, block: DeploymentBlockRecord, reason: str) -> None:
    block.state = "failed"
    end_pool(record)
    work.blocks.remove_rows(block)
    work.deployments.record_event(record, "failed", {"block": block.number, "reason": reason[:500]})
