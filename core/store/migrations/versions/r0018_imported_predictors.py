"""Predictors that were fitted elsewhere and taken over from their files are marked as such."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("predictors", sa.Column("imported", sa.Boolean(), nullable=False, server_default=sa.false()))
