"""Jobs that may still be fitted keep the meaning that their options had before methods did what their names say.

- ``pac_bayes`` with a promise for every member served tuned parameters as they were, or members of a posterior where
  these had smaller certified sizes, which was next to never: such a job becomes ``learned``, since ``pac_bayes`` now
  always draws from a posterior and fails where there is no budget for one. With ``guarantee: posterior`` a posterior
  was asked for by name, and still is.
- ``standard`` and ``learned`` took no notice of ``guarantee``; they now refuse what they cannot give.
- ``prior.objective: auto`` tuned for a proper score and for size and paid for both; it now is the proper score, which
  was the first of them.
- Sizes were bounded by ``grid_kl``; labels that tie were in or out of a set together, and sets could be empty.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
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
        connection.execute(_calibrations.update().where(columns.id == id).values(options=meant(options)))


def meant(given: dict[str, Any]) -> dict[str, Any]:
    """What is not valid stays: a job that the fit refuses is refused as before."""
    options = {"size_bound": "grid_kl", "ties": "together", "non_empty": False, **given}
    if options.get("method") == "pac_bayes" and options.get("guarantee") == "per_draw":
        options["method"] = "learned"
    elif options.get("method") in ("standard", "learned") and options.get("guarantee") == "posterior":
        options["guarantee"] = "per_draw"
    prior = options.get("prior")
    if isinstance(prior, dict) and prior.get("objective") == "auto":
        options["prior"] = {**prior, "objective": "proper"}
    return options
