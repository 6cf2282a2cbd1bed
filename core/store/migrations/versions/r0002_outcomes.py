"""Outcomes and monitors; which members a predictor serves."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("predictors") as table:
        table.add_column(sa.Column("serve", sa.String(length=20), nullable=False, server_default="random"))
    with op.batch_alter_table("predictors") as table:
        table.alter_column("serve", server_default=None)
    op.create_table(
        "outcomes",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("prediction", sa.String(length=64), nullable=False),
        sa.Column("predictor_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("misses", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "prediction", name=op.f("pk_outcomes")),
    )
    op.create_index(op.f("ix_outcomes_tenant_predictor_id_number"), "outcomes", ["tenant", "predictor_id", "number"])
    op.create_table(
        "monitors",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("predictor_id", sa.String(length=64), nullable=False),
        sa.Column("outcomes", sa.BigInteger(), nullable=False),
        sa.Column("misses", sa.BigInteger(), nullable=False),
        sa.Column("log_peak", sa.Double(), nullable=False),
        sa.Column("contradicted_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "predictor_id", name=op.f("pk_monitors")),
    )
