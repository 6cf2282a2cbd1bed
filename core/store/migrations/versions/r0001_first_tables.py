"""The first tables: keys, datasets, models, calibrations, predictors, certificates."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("scopes", _json, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_keys_digest")),
    )
    op.create_table(
        "calibrations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("model_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_artifact", sa.String(length=64), nullable=False),
        sa.Column("model_artifact", sa.String(length=64), nullable=False),
        sa.Column("manifest", _json, nullable=False),
        sa.Column("options", _json, nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=True),
        sa.Column("request_sha256", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("lease_owner", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("announced_at", sa.Double(), nullable=False),
        sa.Column("announcements", sa.Integer(), nullable=False),
        sa.Column("progress", _json, nullable=True),
        sa.Column("reports", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("predictor_id", sa.String(length=64), nullable=True),
        sa.Column("certificate_id", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.CheckConstraint("(status = 'running') = (lease_owner is not null)", name=op.f("ck_calibrations_lease")),
        sa.CheckConstraint(
            "(status = 'succeeded') = (certificate_id is not null)", name=op.f("ck_calibrations_outcome")
        ),
        sa.CheckConstraint(
            "status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name=op.f("ck_calibrations_status")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calibrations")),
        sa.UniqueConstraint("tenant", "idempotency_key", name=op.f("uq_calibrations_tenant_idempotency_key")),
    )
    op.create_index(op.f("ix_calibrations_status_lease_until"), "calibrations", ["status", "lease_until"], unique=False)
    op.create_index(op.f("ix_calibrations_tenant_id"), "calibrations", ["tenant", "id"], unique=False)
    op.create_table(
        "certificates",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("predictor_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("model_id", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("bound", sa.String(length=20), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_certificates")),
    )
    op.create_index(
        op.f("ix_certificates_tenant_predictor_id"), "certificates", ["tenant", "predictor_id"], unique=False
    )
    op.create_table(
        "datasets",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("target", sa.String(length=1000), nullable=False),
        sa.Column("artifact", sa.String(length=64), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("x_shape", _json, nullable=False),
        sa.Column("y_kind", sa.String(length=20), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
        sa.UniqueConstraint("tenant", "sha256", "target", name=op.f("uq_datasets_tenant_sha256_target")),
    )
    op.create_index(op.f("ix_datasets_artifact"), "datasets", ["artifact"], unique=False)
    op.create_table(
        "models",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("task", sa.String(length=20), nullable=False),
        sa.Column("manifest", _json, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("artifact", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint("tenant", "sha256", name=op.f("uq_models_tenant_sha256")),
    )
    op.create_index(op.f("ix_models_artifact"), "models", ["artifact"], unique=False)
    op.create_table(
        "predictors",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("calibration_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("task", sa.String(length=20), nullable=False),
        sa.Column("score", sa.String(length=40), nullable=False),
        sa.Column("members", sa.Integer(), nullable=False),
        sa.Column("description", _json, nullable=False),
        sa.Column("artifact", sa.String(length=64), nullable=False),
        sa.Column("certificate_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_predictors")),
    )
    op.create_index(op.f("ix_predictors_artifact"), "predictors", ["artifact"], unique=False)
