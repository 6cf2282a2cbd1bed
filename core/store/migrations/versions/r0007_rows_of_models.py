"""Whether a model's rows are proved to be computed one by one.

Backbones that are our own code are, by construction. An ONNX graph of an older model is judged when it is next used for
a calibration; until then nothing is said.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_models = sa.table("models", sa.column("id", sa.String), sa.column("manifest", _json), sa.column("rows", sa.String))


def upgrade() -> None:
    op.add_column("models", sa.Column("rows", sa.String(length=20), nullable=True))
    op.add_column("models", sa.Column("rows_reason", sa.String(length=200), nullable=True))
    connection = op.get_bind()
    columns = _models.c
    for id, manifest in connection.execute(sa.select(columns.id, columns.manifest)).all():
        if manifest["backbone"]["kind"] != "onnx":
            connection.execute(_models.update().where(columns.id == id).values(rows="proved"))
