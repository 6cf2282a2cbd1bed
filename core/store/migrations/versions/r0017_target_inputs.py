"""Which target inputs a calibration estimates weights from; those that were there before have none."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("calibrations", sa.Column("target_dataset_id", sa.String(length=64), nullable=True))
    op.add_column("calibrations", sa.Column("target_artifact", sa.String(length=64), nullable=True))
