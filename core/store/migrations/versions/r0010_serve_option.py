"""Jobs that may still be fitted store the option serve as well: a member drawn for each input, as it was before."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_calibrations = sa.table(
    "calibrations", sa.column("id", sa.String), sa.column("status", sa.String), sa.column("options", _json)
)


def upgrade() -> None:
    connection, columns = op.get_bind(), _calibrations.c
    waiting = sa.select(columns.id, columns.options).where(columns.status != "succeeded")
    for id, options in connection.execute(waiting).all():
        completed = {"serve": "random", **options}
        connection.execute(_calibrations.update().where(columns.id == id).values(options=completed))
