"""Jobs that may still be fitted store the options for groups, populations and all alpha: none of them asked for."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_calibrations = sa.table(
    "calibrations", sa.column("id", sa.String), sa.column("status", sa.String), sa.column("options", _json)
)
_NEW = {
    "alpha_around": 0.1,
    "groups": None,
    "group_list": None,
    "unknown_groups": "whole",
    "weights": None,
    "weight_bound": None,
    "prevalences": None,
}


def upgrade() -> None:
    connection, columns = op.get_bind(), _calibrations.c
    waiting = sa.select(columns.id, columns.options).where(columns.status != "succeeded")
    for id, options in connection.execute(waiting).all():
        connection.execute(_calibrations.update().where(columns.id == id).values(options={**_NEW, **options}))
