"""Predictors have their certificate's numbers in columns, so that long lists can be searched, sorted and paged."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_SORTED = ("name", "alpha", "n", "size", "certified_size")
_OF_PREDICTOR = ("tenant", "calibration_id", "certificate_id", "name", "task")
_OF_CERTIFICATE = ("dataset_id", "model_id", "alpha", "document")


def upgrade() -> None:
    summaries = op.create_table(
        "summaries",
        *(
            sa.Column(name, sa.String(length=64), nullable=False)
            for name in ("tenant", "predictor_id", "calibration_id", "certificate_id", "dataset_id", "model_id")
        ),
        *(sa.Column(name, sa.String(length=200), nullable=False) for name in ("name", "dataset_name", "model_name")),
        sa.Column("task", sa.String(length=20), nullable=False),
        sa.Column("method", sa.String(length=40), nullable=True),
        sa.Column("guarantee", sa.String(length=40), nullable=True),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("delta", sa.Double(), nullable=True),
        sa.Column("n", sa.BigInteger(), nullable=True),
        sa.Column("size", sa.Double(), nullable=True),
        sa.Column("certified_size", sa.Double(), nullable=True),
        sa.Column("measure", sa.String(length=20), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "predictor_id", name=op.f("pk_summaries")),
    )
    for columns in (["calibration_id"], *([name, "calibration_id"] for name in _SORTED), ["dataset_id"], ["model_id"]):
        op.create_index(op.f(f"ix_summaries_tenant_{'_'.join(columns)}"), "summaries", ["tenant", *columns])
    op.create_index(op.f("ix_calibrations_tenant_predictor_id_id"), "calibrations", ["tenant", "predictor_id", "id"])
    connection = op.get_bind()
    for row in connection.execute(_served()).mappings().all():
        connection.execute(summaries.insert().values(_summary(row)))


def _served() -> Any:
    predictors, certificates, datasets, models = (
        sa.table(name, *(sa.column(column) for column in columns))
        for name, columns in (
            (
                "predictors",
                ["tenant", "id", "calibration_id", "certificate_id", "name", "task", "created_at", "withdrawn_at"],
            ),
            ("certificates", ["tenant", "id", "dataset_id", "model_id", "alpha", "document"]),
            ("datasets", ["id", "name"]),
            ("models", ["id", "name"]),
        )
    )
    certificate = (certificates.c.tenant == predictors.c.tenant) & (certificates.c.id == predictors.c.certificate_id)
    joined = (
        predictors.join(certificates, certificate)
        .outerjoin(datasets, datasets.c.id == certificates.c.dataset_id)
        .outerjoin(models, models.c.id == certificates.c.model_id)
    )
    of_predictor = [predictors.c[name] for name in _OF_PREDICTOR]
    of_certificate = [certificates.c[name] for name in _OF_CERTIFICATE]
    return (
        sa.select(
            predictors.c.id.label("predictor_id"),
            predictors.c.created_at,
            *of_predictor,
            *of_certificate,
            datasets.c.name.label("dataset_name"),
            models.c.name.label("model_name"),
        )
        .select_from(joined)
        .where(predictors.c.withdrawn_at.is_(None))
    )


def _summary(row: Any) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name != "document"}
    content = json.loads(row["document"])
    coverage, efficiency = content.get("coverage") or {}, content.get("efficiency") or {}
    names = content.get("names") or {}
    return {
        **kept,
        "dataset_name": row["dataset_name"] or names.get("dataset") or "",
        "model_name": row["model_name"] or names.get("model") or "",
        "method": (content.get("provenance") or {}).get("method"),
        "guarantee": coverage.get("guarantee"),
        "delta": coverage.get("delta"),
        "n": coverage.get("n"),
        "size": efficiency.get("empirical"),
        "certified_size": efficiency.get("upper_bound"),
        "measure": efficiency.get("measure"),
    }
