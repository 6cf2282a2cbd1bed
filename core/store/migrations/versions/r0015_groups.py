"""Monitors watch every group that has a threshold of its own."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0012"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("outcomes") as batch:
        batch.add_column(sa.Column("group_place", sa.Integer(), nullable=True))
    with op.batch_alter_table("monitors") as batch:
        batch.add_column(sa.Column("groups", _json, nullable=True))
