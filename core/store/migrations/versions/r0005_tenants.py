"""Tenants with quotas and turns, sizes of artifacts, and predictors that were deleted.

The size of a dataset's artifact is taken to be that of its upload, and a predictor's to be 0: files are not read here.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "tenants",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("served_at", sa.Double(), nullable=False),
        sa.Column("quotas", _json, nullable=False),
        sa.Column("erasing_since", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tenants")),
    )
    for table in ("datasets", "predictors"):
        op.add_column(table, sa.Column("stored_bytes", sa.BigInteger(), nullable=True))
    op.execute("update datasets set stored_bytes = bytes")
    op.execute("update predictors set stored_bytes = 0")
    for table in ("datasets", "predictors"):
        with op.batch_alter_table(table) as batch:
            batch.alter_column("stored_bytes", nullable=False)
    op.add_column("predictors", sa.Column("withdrawn_at", sa.Double(), nullable=True))
    op.create_index(op.f("ix_calibrations_status_tenant"), "calibrations", ["status", "tenant"])
