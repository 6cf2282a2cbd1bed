"""Jobs store all their options: those that were left out get the defaults of version 0.1.0.

Earlier versions stored only what the caller gave. A later default must not change a job that waits, runs, or may be
retried, so that every calibration that has not succeeded is completed here. The defaults stand here as literals, for
the same reason.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_calibrations = sa.table(
    "calibrations",
    sa.column("id", sa.String),
    sa.column("status", sa.String),
    sa.column("manifest", _json),
    sa.column("options", _json),
)

_DEFAULTS: dict[str, Any] = {
    "alpha": 0.1,
    "delta": 0.05,
    "gamma": 0.05,
    "method": "pac_bayes",
    "guarantee": "per_draw",
    "bound": "chernoff",
    "tune": "auto",
    "members": 32,
    "seed": 0,
    "device": "auto",
    "dtype": "float32",
    "size_cap": None,
    "allow_missing_classes": False,
}
_SECTIONS: dict[str, dict[str, Any]] = {
    "prior": {
        "split": 0.5,
        "train": "mean_variance",
        "objective": "auto",
        "scale": 0.01,
        "steps": None,
        "rate": None,
        "batch": None,
        "dropout": None,
    },
    "optimizer": {
        "kind": "projected",
        "steps": 100,
        "outer": 7,
        "rate": None,
        "draws": 1,
        "batch": 128,
        "quantile": "smooth",
        "temperature": 0.1,
        "measure": "size",
    },
}
_SCORES = {"classification": "log_prob", "regression": "scaled_residual"}
_RAPS = {"penalty": 0.01, "free": 2}
_GRID = (0.2, 0.35, 0.5, 0.65, 0.8)
"""alpha_hat / alpha"""


def upgrade() -> None:
    connection = op.get_bind()
    table = _calibrations.c
    rows = connection.execute(
        sa.select(table.id, table.manifest, table.options).where(table.status != "succeeded")
    ).all()
    for id, manifest, options in rows:
        completed = complete(options, manifest.get("task"))
        connection.execute(_calibrations.update().where(table.id == id).values(options=completed))


def complete(given: dict[str, Any], task: str | None) -> dict[str, Any]:
    """What was given stays, valid or not: a job that the fit refuses is refused as before."""
    options = {**_DEFAULTS, **given}
    if "alpha" not in given and _is_number(given.get("confidence_level")):
        options["alpha"] = round(1 - options.pop("confidence_level"), 12)
    for name, defaults in _SECTIONS.items():
        section = given.get(name)
        if section is None or isinstance(section, dict):
            options[name] = {**defaults, **(section or {})}
    score = given.get("score")
    if score is None and task in _SCORES:
        options["score"] = {"kind": _SCORES[task]}
    elif isinstance(score, dict) and score.get("kind") == "raps":
        options["score"] = {**_RAPS, **{name: value for name, value in score.items() if value is not None}}
    levels = given.get("alpha_hat", "grid")
    if levels == "grid" and _is_number(options["alpha"]):
        options["alpha_hat"] = [round(options["alpha"] * share, 12) for share in _GRID]
    elif _is_number(levels):
        options["alpha_hat"] = [levels]
    return options


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
