"""Reported outcomes as rows of the next predictor: which of them are, and when a block of them ends.

**Why this is sound.** A block's rows are what was asked and came true, in the order of their reports. It ends after so
many rows, or at a time, and never because of what its rows say; so, if truths are reported regardless of the set, its
rows are draws from the law of what is asked, and a predictor that is calibrated on them alone breaks its promise with
probability at most delta, whatever was seen before the block began. Whatever depends on rows that were collected, a
contradiction or a change by hand, drops them and begins a new block, of predictions that are asked for later.

**The account.** Which blocks end in a predictor may depend on their rows: a fit may fail, and a contradiction drops a
block. So every block that had rows spends its delta, whether a predictor comes of it or not; then the expected number
of broken predictors is at most the sum of what was spent. *Proof:* given that a block began, it is broken with
probability at most delta, and being served only removes outcomes; sum over the blocks that began.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from certiset.core.jobs.block_data import base_of, set_base
from certiset.core.jobs.recipes import risk_of_block
from certiset.core.store.deployment_records import DeploymentRecord
from certiset.core.store.quotas import Amounts
from certiset.core.store.store import Transaction

_ROUNDING = 1e-9


@dataclass(frozen=True)
class BroughtRow:
    """An outcome that counts, and brought the input that was asked."""

    token: str
    """of the deployment"""
    asked_at: float
    prediction: str
    x: bytes
    y: list[float]
    group: tuple[str, ...] | None = None
    """of the input, as the predictor that was asked lists it; None: it lists none, or another one"""


def collect(work: Transaction, tenant: str, rows: Sequence[BroughtRow]) -> int:
    """Adds them to the open blocks of their deployments, as far as those want them; returns how many."""
    collected = size = 0
    for token in sorted({row.token for row in rows}):
        record = work.deployments.of_token(tenant, token, lock=True)
        if record is None:
            continue
        for row in rows:
            if row.token != token or record.block_began is None or row.asked_at < record.rows_after:
                continue
            work.blocks.add_row(record, row.prediction, row.x, row.y, row.group)
            collected, size = collected + 1, size + len(row.x)
            if record.block_rows == (record.recalibrate or {})["every"].get("rows"):
                end_block(work, record)
    if collected:
        work.session.flush()
        work.tenants.check_total(tenant, Amounts(rows=collected, bytes=size))
    return collected


def end_block(work: Transaction, record: DeploymentRecord) -> None:
    """By its number of rows, or by the calendar: a worker takes it from here, if its delta can be spent."""
    delta, total = risk_of_block(record), None if record.spend is None else float(record.spend["total"])
    if total is not None and record.spent + delta > total * (1 + _ROUNDING):
        # Earlier blocks that wait for their calibration were paid for.
        work.blocks.clear(record)
        record.block_began = None
        reason = (
            f"The total risk of {total:.4g} is spent: set another total to go on. Until then no outcomes are collected."
        )
        work.deployments.record_event(record, "failed", {"block": record.block, "reason": reason})
        return
    record.spent += delta
    work.blocks.close(record, work.deployments.time())


def begin_block(work: Transaction, record: DeploymentRecord) -> None:
    """Rows that were collected are dropped, and, if the deployment collects any, a new block begins, without a pool.

    The one of a predictor that was set by hand is given afterwards, by `set_base`.
    """
    end_blocks(work, record)
    if record.recalibrate is None:
        record.block_rows, record.block_began = 0, None
    else:
        work.blocks.begin(record, work.deployments.time(), later_rows_alone=True)


def end_blocks(work: Transaction, record: DeploymentRecord) -> None:
    """No row that was collected so far calibrates anything: what was to be spent on them is spent."""
    drop_rows(work, record)
    end_pool(record)


def end_pool(record: DeploymentRecord) -> None:
    """The next predictor rests on later rows alone; where that ends a pool, one block more is spent (`block_data`)."""
    if base_of(record) is not None and record.block_began is not None:
        record.spent += risk_of_block(record)
    set_base(record, None)


def drop_rows(work: Transaction, record: DeploymentRecord) -> None:
    """With the blocks that wait for a calibration, which ends if it has begun."""
    if record.block_rows:
        record.spent += risk_of_block(record)
    for calibration_id in work.blocks.drop(record):
        if work.calibrations.find(calibration_id) is not None:
            work.calibrations.cancel(calibration_id)


def note_contradiction(work: Transaction, tenant: str, predictor_id: str) -> None:
    """Tells the deployments that stand for a predictor whose certificate was just contradicted."""
    monitor = work.outcomes.monitor(tenant, predictor_id)
    for name in work.deployments.standing_for(tenant, predictor_id):
        record = work.deployments.find(tenant, name, lock=True)
        if record is None or record.predictor_id != predictor_id:
            continue
        work.deployments.record_event(record, "contradicted", {"outcomes": monitor.outcomes, "misses": monitor.misses})
        if record.recalibrate is not None and record.recalibrate["on_contradiction"]:
            begin_block(work, record)


def correct_row(work: Transaction, tenant: str, prediction: str, y: list[float] | None) -> None:
    """The truth of a row that has not calibrated anything yet is another one, or none."""
    row = work.blocks.row(tenant, prediction)
    if row is None:
        return
    record = work.deployments.of_token(tenant, row.token, lock=True)
    # Looked up again under the lock: a worker may have taken it.
    row = work.blocks.row(tenant, prediction)
    if row is None:
        return
    if y is not None:
        row.y = y
        return
    if record is not None and record.block == row.block:
        record.block_rows -= 1
    work.session.delete(row)
