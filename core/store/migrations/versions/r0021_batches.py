"""Batches: jobs that write the sets of all rows of a data set into one file."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def _id(name: str, *, nullable: bool = False) -> "sa.Column[str]":
    return sa.Column(name, sa.String(length=64), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> "sa.Column[float]":
    return sa.Column(name, sa.Double(), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "batches",
        *map(_id, ("id", "tenant")),
        sa.Column("name", sa.String(length=200), nullable=False),
        *map(_id, ("predictor_id", "dataset_id", "predictor_artifact", "dataset_artifact")),
        _id("members_artifact", nullable=True),
        sa.Column("options", _json, nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        _id("artifact", nullable=True),
        sa.Column("stored_bytes", sa.BigInteger(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=True),
        _id("request_sha256"),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        _id("lease_owner", nullable=True),
        _time("lease_until", nullable=True),
        _time("not_before"),
        _time("announced_at"),
        sa.Column("announcements", sa.Integer(), nullable=False),
        sa.Column("progress", _json, nullable=True),
        sa.Column("reports", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        _time("created_at"),
        _time("started_at", nullable=True),
        _time("finished_at", nullable=True),
        sa.CheckConstraint(
            "status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name=op.f("ck_batches_status")
        ),
        sa.CheckConstraint("(status = 'running') = (lease_owner is not null)", name=op.f("ck_batches_lease")),
        sa.CheckConstraint("(status = 'succeeded') = (artifact is not null)", name=op.f("ck_batches_outcome")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
        sa.UniqueConstraint("tenant", "idempotency_key", name=op.f("uq_batches_tenant_idempotency_key")),
    )
    for columns in (["status", "lease_until"], ["status", "tenant"], ["tenant", "id"], ["artifact"]):
        op.create_index(op.f(f"ix_batches_{'_'.join(columns)}"), "batches", columns)
