"""Outcomes count once a case and can be corrected; monitors know what was issued, and watch sizes."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("outcomes") as batch:
        batch.add_column(sa.Column("state", sa.String(length=10), nullable=False, server_default="counted"))
        batch.add_column(sa.Column("case_hash", sa.String(length=16), nullable=True))
        batch.add_column(sa.Column("size", sa.Double(), nullable=True))
        batch.add_column(sa.Column("size_promised", sa.Double(), nullable=True))
    with op.batch_alter_table("outcomes") as batch:
        batch.alter_column("state", server_default=None)
        batch.create_check_constraint(op.f("ck_outcomes_state"), "(state = 'counted') = (number > 0)")
    op.create_index(
        op.f("ix_outcomes_tenant_predictor_id_case_hash"),
        "outcomes",
        ["tenant", "predictor_id", "case_hash"],
        unique=True,
    )
    counts = ("issued", "reported", "sizes")
    with op.batch_alter_table("monitors") as batch:
        for name in counts:
            batch.add_column(sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
        for name in ("size_total", "size_log_peak"):
            batch.add_column(sa.Column(name, sa.Double(), nullable=False, server_default="0"))
        batch.add_column(sa.Column("size_log_capitals", _json, nullable=True))
    with op.batch_alter_table("monitors") as batch:
        for name in (*counts, "size_total", "size_log_peak"):
            batch.alter_column(name, server_default=None)
