"""Deployments: names for predictors, what became of them, and the rows that calibrate the next ones."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def _id(name: str, *, nullable: bool = False) -> "sa.Column[str]":
    return sa.Column(name, sa.String(length=64), nullable=nullable)


def _count(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.BigInteger(), nullable=False)


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer(), nullable=False)


def _time(name: str, *, nullable: bool = False) -> "sa.Column[float]":
    return sa.Column(name, sa.Double(), nullable=nullable)


def _token() -> "sa.Column[str]":
    return sa.Column("token", sa.String(length=16), nullable=False)


def upgrade() -> None:
    op.create_table(
        "deployments",
        _id("tenant"),
        _id("name"),
        _token(),
        _id("predictor_id"),
        _number("version"),
        _time("since"),
        _time("created_at"),
        *(sa.Column(name, _json, nullable=True) for name in ("recalibrate", "spend", "recipe")),
        _time("spent"),
        _number("generations"),
        _count("issued"),
        _number("block"),
        _count("block_rows"),
        _count("block_issued"),
        _time("block_began", nullable=True),
        _time("rows_after"),
        sa.PrimaryKeyConstraint("tenant", "name", name=op.f("pk_deployments")),
    )
    op.create_index(op.f("ix_deployments_tenant_token"), "deployments", ["tenant", "token"], unique=True)
    op.create_index(op.f("ix_deployments_tenant_predictor_id"), "deployments", ["tenant", "predictor_id"])
    op.create_table(
        "deployment_events",
        _id("tenant"),
        _id("name"),
        _count("number"),
        sa.Column("kind", sa.String(length=20), nullable=False),
        _number("version"),
        _id("predictor_id"),
        sa.Column("details", _json, nullable=True),
        _time("at"),
        sa.PrimaryKeyConstraint("tenant", "name", "number", name=op.f("pk_deployment_events")),
    )
    op.create_index(op.f("ix_deployment_events_at"), "deployment_events", ["at"])
    op.create_table(
        "deployment_blocks",
        _id("tenant"),
        _token(),
        _number("number"),
        _id("name"),
        sa.Column("state", sa.String(length=20), nullable=False),
        _id("request_key"),
        _count("rows"),
        _count("issued"),
        _time("began_at"),
        _time("closed_at"),
        _time("spent"),
        _time("retry_at"),
        _id("dataset_id", nullable=True),
        _id("calibration_id", nullable=True),
        sa.CheckConstraint(
            "state in ('closed', 'calibrating', 'served', 'failed', 'dropped')", name=op.f("ck_deployment_blocks_state")
        ),
        sa.PrimaryKeyConstraint("tenant", "token", "number", name=op.f("pk_deployment_blocks")),
    )
    op.create_index(op.f("ix_deployment_blocks_state"), "deployment_blocks", ["state"])
    op.create_index(
        op.f("ix_deployment_blocks_tenant_request_key"), "deployment_blocks", ["tenant", "request_key"], unique=True
    )
    op.create_table(
        "deployment_rows",
        _id("tenant"),
        _id("prediction"),
        _token(),
        _number("block"),
        _count("number"),
        sa.Column("x", sa.LargeBinary(), nullable=False),
        sa.Column("y", _json, nullable=False),
        _count("bytes"),
        _time("created_at"),
        sa.PrimaryKeyConstraint("tenant", "prediction", name=op.f("pk_deployment_rows")),
    )
    op.create_index(
        op.f("ix_deployment_rows_tenant_token_block_number"), "deployment_rows", ["tenant", "token", "block", "number"]
    )
    op.create_index(op.f("ix_deployment_rows_created_at"), "deployment_rows", ["created_at"])
