"""The reports of a fit, so that a client that connects late or reconnects sees them all."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "reports",
        sa.Column("calibration_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("report", _json, nullable=False),
        sa.PrimaryKeyConstraint("calibration_id", "number", name=op.f("pk_reports")),
    )
