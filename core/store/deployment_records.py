"""The tables of deployments: what a name stands for, what became of it, and the rows that its outcomes bring."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from certiset.core.store.clock import now
from certiset.core.store.record_base import Id, Record


class DeploymentRecord(Record):
    """A name that clients use in place of a predictor's id. Its row is the lock under which it changes."""

    __tablename__ = "deployments"
    __table_args__ = (Index(None, "tenant", "token", unique=True), Index(None, "tenant", "predictor_id"))

    tenant: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(Id, primary_key=True)
    token: Mapped[str] = mapped_column(String(16))
    """random: what prediction ids call it; another one if the name is deleted and given again"""
    predictor_id: Mapped[str] = mapped_column(Id)
    version: Mapped[int]
    """grows with every change, and goes on where a deleted one of the same name ended"""
    since: Mapped[float] = mapped_column(default=now())
    """when this predictor was switched to"""
    created_at: Mapped[float] = mapped_column(default=now())
    recalibrate: Mapped[dict[str, Any] | None]
    """when to calibrate anew on reported outcomes; None: never, and nothing of an input is kept"""
    spend: Mapped[dict[str, Any] | None]
    """total and over; None: every predictor has the delta of its own calibration"""
    recipe: Mapped[dict[str, Any] | None]
    """model_id and options: what the next predictors are made with"""
    spent: Mapped[float] = mapped_column(default=0.0)
    """the risks of all predictors that it has stood for, each counted once"""
    generations: Mapped[int] = mapped_column(default=0)
    """how many predictors that is"""
    issued: Mapped[int] = mapped_column(BigInteger, default=0)
    """sets served under this name while its outcomes are collected, replays apart"""
    block: Mapped[int] = mapped_column(default=0)
    """the number of the block that takes rows; 0: none does"""
    block_rows: Mapped[int] = mapped_column(BigInteger, default=0)
    block_issued: Mapped[int] = mapped_column(BigInteger, default=0)
    """what `issued` was when the block began"""
    block_began: Mapped[float | None]
    rows_after: Mapped[float] = mapped_column(default=0.0)
    """predictions that were asked for before are no rows: a contradiction, or a change by hand, lies between"""


class DeploymentEventRecord(Record):
    """Something that happened to a deployment; what it stood for when is read from these. They outlive it."""

    __tablename__ = "deployment_events"
    __table_args__ = (Index(None, "at"),)

    tenant: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(Id, primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """counts from 1"""
    kind: Mapped[str] = mapped_column(String(20))
    version: Mapped[int]
    predictor_id: Mapped[str] = mapped_column(Id)
    """that it stood for afterwards"""
    details: Mapped[dict[str, Any] | None]
    at: Mapped[float] = mapped_column(default=now())


class DeploymentBlockRecord(Record):
    """Rows that have been collected and calibrate the next predictor."""

    __tablename__ = "deployment_blocks"
    __table_args__ = (
        CheckConstraint("state in ('closed', 'calibrating', 'served', 'failed', 'dropped')", name="state"),
        Index(None, "state"),
        Index(None, "tenant", "request_key", unique=True),
    )

    tenant: Mapped[str] = mapped_column(Id, primary_key=True)
    token: Mapped[str] = mapped_column(String(16), primary_key=True)
    """of the deployment"""
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Id)
    state: Mapped[str] = mapped_column(String(20), default="closed")
    """closed: its rows wait for a worker; calibrating; served; failed; dropped: something came in between"""
    request_key: Mapped[str] = mapped_column(Id)
    """random: the idempotency key of its calibration, by which the worker that signs finds it"""
    rows: Mapped[int] = mapped_column(BigInteger)
    issued: Mapped[int] = mapped_column(BigInteger)
    """sets served under the deployment's name while it was open"""
    began_at: Mapped[float]
    closed_at: Mapped[float] = mapped_column(default=now())
    spent: Mapped[float]
    """of the deployment's account up to this block, its own risk included"""
    retry_at: Mapped[float] = mapped_column(default=0.0)
    """not before then, after a failure that may pass"""
    dataset_id: Mapped[str | None] = mapped_column(Id)
    calibration_id: Mapped[str | None] = mapped_column(Id)


class DeploymentRowRecord(Record):
    """An input that was asked, sent again with its truth, until its block is a data set."""

    __tablename__ = "deployment_rows"
    __table_args__ = (Index(None, "tenant", "token", "block", "number"), Index(None, "created_at"))

    tenant: Mapped[str] = mapped_column(Id, primary_key=True)
    prediction: Mapped[str] = mapped_column(Id, primary_key=True)
    """the random number in the prediction's id"""
    token: Mapped[str] = mapped_column(String(16))
    """of the deployment"""
    block: Mapped[int]
    number: Mapped[int] = mapped_column(BigInteger)
    """in the order in which they were reported"""
    x: Mapped[bytes] = mapped_column(LargeBinary)
    """float64, in the order of the model's input"""
    y: Mapped[list[float]]
    group_name: Mapped[list[str] | None]
    """of the input, as the predictor that was asked lists it; None: it lists none, or another one"""
    bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[float] = mapped_column(default=now())
