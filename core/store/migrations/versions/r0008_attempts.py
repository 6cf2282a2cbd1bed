"""The account of each tenant's rows: which fits have begun on them, and keyed hashes that recognise rows again.

Calibrations that have begun before count as attempts on their data set. Which rows other data sets share with it is
known once one of both is calibrated again.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_calibrations = sa.table(
    "calibrations",
    sa.column("id", sa.String),
    sa.column("tenant", sa.String),
    sa.column("dataset_artifact", sa.String),
    sa.column("status", sa.String),
    sa.column("options", _json),
    sa.column("started_at", sa.Double),
)


def upgrade() -> None:
    op.add_column("tenants", sa.Column("row_key", sa.String(length=64), nullable=True))
    op.create_table(
        "row_sketches",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("artifact", sa.String(length=64), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("distinct_rows", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.String(length=16), nullable=False),
        sa.Column("hashes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "artifact", name=op.f("pk_row_sketches")),
    )
    op.create_table(
        "shared_rows",
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("artifact", sa.String(length=64), nullable=False),
        sa.Column("other", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "artifact", "other", name=op.f("pk_shared_rows")),
    )
    attempts = op.create_table(
        "attempts",
        sa.Column("calibration_id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=64), nullable=False),
        sa.Column("artifact", sa.String(length=64), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("delta", sa.Double(), nullable=False),
        sa.Column("delta_all", sa.Double(), nullable=False),
        sa.Column("family", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("calibration_id", name=op.f("pk_attempts")),
    )
    op.create_index(op.f("ix_attempts_tenant_artifact"), "attempts", ["tenant", "artifact"])
    connection = op.get_bind()
    known = _begun(connection)
    if known:
        op.bulk_insert(attempts, known)
    _complete_options(connection)


def _complete_options(connection: sa.Connection) -> None:
    """Jobs that may still be fitted store all their options."""
    columns = _calibrations.c
    for id, options in connection.execute(
        sa.select(columns.id, columns.options).where(columns.status != "succeeded")
    ).all():
        completed = {"family": 1, "clusters": None, "order": None, **options}
        connection.execute(_calibrations.update().where(columns.id == id).values(options=completed))


def _begun(connection: sa.Connection) -> list[dict[str, Any]]:
    columns = _calibrations.c
    begun = sa.select(_calibrations).where(columns.started_at.is_not(None)).order_by(columns.started_at, columns.id)
    counted: dict[tuple[str, str], tuple[int, float]] = {}
    attempts = []
    for row in connection.execute(begun).mappings():
        rows = (row["tenant"], row["dataset_artifact"])
        delta = _risk(row["options"])
        number, total = counted.get(rows, (0, 0.0))
        counted[rows] = (number + 1, total + delta)
        attempts.append(
            {
                "calibration_id": row["id"],
                "tenant": row["tenant"],
                "artifact": row["dataset_artifact"],
                "number": number + 1,
                "delta": delta,
                "delta_all": total + delta,
                "family": 1,
                "created_at": row["started_at"],
            }
        )
    return attempts


def _risk(options: dict[str, Any]) -> float:
    """As this version's fits spend it; options that were left out had the defaults of 0.1.0."""
    delta = options.get("delta", 0.05)
    own = float(delta) if isinstance(delta, int | float) else 0.05
    mean = options.get("method", "pac_bayes") == "pac_bayes" and options.get("guarantee") == "posterior"
    return 2 * own if mean else own
