"""Records of older versions go on under this one: options, methods, outcomes and attempts keep what they meant."""

import json
from typing import Any

from sqlalchemy import select, text

from certiset.core.fit.methods import METHODS
from certiset.core.fit.options import FitOptions
from certiset.core.store import Database
from certiset.core.store.account_records import AttemptRecord
from certiset.core.store.migrate import migrate
from certiset.core.store.records import Calibration, ModelRecord, Monitor, OutcomeRecord
from certiset.core.store.schema import SCHEMA
from tests.core.store.revisions import upgrade_to


def insert_calibration(database: Database, id: str, status: str, task: str, options: dict[str, Any]) -> None:
    """As version 0.1.0 wrote it, at revision 0003."""
    row = {
        "id": id,
        "manifest": json.dumps({"name": "m", "task": task}),
        "options": json.dumps(options),
        "status": status,
        "owner": "word" if status == "running" else None,
        "certificate": "cert-1" if status == "succeeded" else None,
    }
    with database.writing() as session:
        session.execute(
            text(
                "insert into calibrations (id, tenant, name, dataset_id, model_id, dataset_artifact, model_artifact, "
                "manifest, options, request_sha256, status, attempts, cancel_requested, lease_owner, not_before, "
                "announced_at, announcements, reports, certificate_id, created_at) values (:id, 'ada', '', 'ds-1', "
                "'mod-1', 'a', 'b', :manifest, :options, 'r', :status, 0, false, :owner, 0, 0, 0, 0, :certificate, 0)"
            ),
            row,
        )


def migrated(database_url: str, rows: dict[str, tuple[str, str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The options of each, after the migration of rows at revision 0003."""
    database = Database(database_url)
    upgrade_to(database, "0003")
    for id, (status, task, options) in rows.items():
        insert_calibration(database, id, status, task, options)
    assert migrate(database) == ("0003", SCHEMA)
    with database.reading() as session:
        found = {row.id: row.options for row in session.scalars(select(Calibration))}
    database.close()
    return found


def test_models_with_a_backbone_of_our_own_are_proved_and_graphs_not_yet_judged(database_url: str) -> None:
    database = Database(database_url)
    upgrade_to(database, "0006")
    with database.writing() as session:
        for kind in ("none", "onnx"):
            session.execute(
                text(
                    "insert into models (id, tenant, name, task, manifest, sha256, artifact, bytes, created_at) "
                    "values (:kind, 'ada', 'm', 'regression', :manifest, :kind, 'a', 1, 0)"
                ),
                {"kind": kind, "manifest": json.dumps({"backbone": {"kind": kind}})},
            )
    assert migrate(database) == ("0006", SCHEMA)
    with database.reading() as session:
        assert {row.id: row.rows for row in session.scalars(select(ModelRecord))} == {"none": "proved", "onnx": None}
    database.close()


DEFAULTS: dict[str, Any] = {
    "alpha": 0.1,
    "delta": 0.05,
    "gamma": 0.05,
    "method": "learned",
    "guarantee": "per_draw",
    "bound": "chernoff",
    "score": {"kind": "log_prob"},
    "tune": "auto",
    "prior": {
        "split": 0.5,
        "train": "mean_variance",
        "objective": "proper",
        "scale": 0.01,
        "steps": None,
        "rate": None,
        "batch": None,
        "dropout": None,
    },
    "alpha_hat": [0.02, 0.035, 0.05, 0.065, 0.08],
    "members": 32,
    "serve": "random",
    "family": 1,
    "clusters": None,
    "order": None,
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
    "seed": 0,
    "device": "auto",
    "dtype": "float32",
    "size_bound": "grid_kl",
    "ties": "together",
    "non_empty": False,
    "size_cap": None,
    "allow_missing_classes": False,
    "alpha_around": 0.1,
    "groups": None,
    "group_list": None,
    "unknown_groups": "whole",
    "weights": None,
    "weight_bound": None,
    "prevalences": None,
}
"""of version 0.1.0, as they are called today"""


def test_options_of_unfinished_calibrations_are_completed_with_the_defaults_of_their_time(database_url: str) -> None:
    given = {
        "alpha": 0.2,
        "delta": 0.01,
        "method": "learned",
        "score": {"kind": "raps", "penalty": 0.1},
        "prior": {"split": 0.3, "steps": 10},
        "alpha_hat": [0.1, 0.15],
        "optimizer": {"kind": "augmented_lagrangian"},
        "size_cap": 2.5,
    }
    found = migrated(
        database_url,
        {
            "cal-none": ("queued", "classification", {}),
            "cal-regression": ("running", "regression", {}),
            "cal-given": ("queued", "classification", given),
            "cal-level": ("queued", "classification", {"confidence_level": 0.9, "alpha_hat": "grid"}),
            "cal-number": ("queued", "classification", {"alpha_hat": 0.05}),
            "cal-failed": ("failed", "classification", {"alpha": 0.2}),
            "cal-cancelled": ("cancelled", "classification", {"seed": 5}),
            "cal-done": ("succeeded", "classification", {"confidence_level": 0.9}),
        },
    )
    grid = [0.04, 0.07, 0.1, 0.13, 0.16]
    assert found["cal-none"] == DEFAULTS
    assert found["cal-regression"] == {**DEFAULTS, "score": {"kind": "scaled_residual"}}
    assert found["cal-given"] == {
        **DEFAULTS,
        **given,
        "score": {"kind": "raps", "penalty": 0.1, "free": 2},
        "prior": {**DEFAULTS["prior"], "split": 0.3, "steps": 10},
        "optimizer": {**DEFAULTS["optimizer"], "kind": "augmented_lagrangian"},
    }
    assert found["cal-level"] == DEFAULTS
    assert found["cal-number"] == {**DEFAULTS, "alpha_hat": [0.05]}
    # These may be retried.
    assert found["cal-failed"] == {**DEFAULTS, "alpha": 0.2, "alpha_hat": grid}
    assert found["cal-cancelled"] == {**DEFAULTS, "seed": 5}
    assert found["cal-done"] == {"confidence_level": 0.9}


def test_methods_of_before_keep_what_they_did(database_url: str) -> None:
    """Next to no pac_bayes fit served a posterior; one that was asked for by its guarantee is still fitted."""
    asked: dict[str, dict[str, Any]] = {
        "pac_bayes": {"method": "pac_bayes", "guarantee": "per_draw"},
        "posterior": {"method": "pac_bayes", "guarantee": "posterior", "bound": "seeger"},
        "learned": {"method": "learned", "guarantee": "posterior", "bound": "vovk_2a"},
        "standard": {"method": "standard", "guarantee": "posterior", "prior": {"objective": "size"}},
        "done": {"method": "pac_bayes", "guarantee": "per_draw", "prior": {"objective": "auto"}},
    }
    rows = {
        f"cal-{name}": ("succeeded" if name == "done" else "queued", "classification", options)
        for name, options in asked.items()
    }
    found = migrated(database_url, rows)
    assert {id: (options["method"], options["guarantee"]) for id, options in found.items()} == {
        "cal-pac_bayes": ("learned", "per_draw"),
        "cal-posterior": ("pac_bayes", "posterior"),
        "cal-learned": ("learned", "per_draw"),
        "cal-standard": ("standard", "per_draw"),
        "cal-done": ("pac_bayes", "per_draw"),
    }
    assert found["cal-posterior"]["prior"]["objective"] == "proper"
    assert found["cal-standard"]["prior"]["objective"] == "size"
    assert found["cal-done"] == asked["done"]
    for id in found.keys() - {"cal-done"}:
        options = FitOptions.read(found[id])
        METHODS[options.method].check(options)


def test_options_that_the_fit_refuses_do_not_stop_the_migration(database_url: str) -> None:
    both = {"alpha": 0.2, "confidence_level": 0.9}
    odd = {"alpha": "much", "prior": 3, "score": "lac", "alpha_hat": "fine", "nonsense": 1}
    found = migrated(
        database_url,
        {"cal-both": ("queued", "classification", both), "cal-odd": ("queued", "unknown", odd)},
    )
    assert both.items() <= found["cal-both"].items()
    assert odd.items() <= found["cal-odd"].items()


def test_the_completed_options_are_options_of_this_version(database_url: str) -> None:
    found = migrated(database_url, {"cal-1": ("queued", "classification", {}), "cal-2": ("queued", "regression", {})})
    assert FitOptions.read(found["cal-1"]).resolved("classification").to_json().items() >= found["cal-1"].items()
    assert FitOptions.read(found["cal-2"]).resolved("regression").to_json().items() >= found["cal-2"].items()


def test_calibrations_that_have_begun_count_as_attempts_on_their_data(database_url: str) -> None:
    database = Database(database_url)
    upgrade_to(database, "0003")
    given: dict[str, dict[str, Any]] = {
        "cal-1": {"delta": 0.1},
        "cal-2": {},
        "cal-3": {"guarantee": "posterior"},
        "cal-4": {},
    }
    for id, options in given.items():
        insert_calibration(database, id, "succeeded", "regression", options)
    with database.writing() as session:
        for id, started in (("cal-1", 30.0), ("cal-2", 10.0), ("cal-3", 20.0)):
            session.execute(text("update calibrations set started_at = :at where id = :id"), {"at": started, "id": id})
    migrate(database)
    with database.reading() as session:
        found = {
            row.calibration_id: (row.number, row.delta, round(row.delta_all, 9), row.created_at)
            for row in session.scalars(select(AttemptRecord))
        }
    database.close()
    assert found == {"cal-2": (1, 0.05, 0.05, 10.0), "cal-3": (2, 0.1, 0.15, 20.0), "cal-1": (3, 0.1, 0.25, 30.0)}


def test_outcomes_and_monitors_of_before_go_on(database_url: str) -> None:
    database = Database(database_url)
    upgrade_to(database, "0006")
    with database.writing() as session:
        session.execute(text("insert into monitors values ('ada', 'pred-1', 1, 1, 2.5, 7.0)"))
        session.execute(text("insert into outcomes values ('ada', 'n1', 'pred-1', 1, 1, 3.0)"))
    migrate(database)
    with database.reading() as session:
        monitor, outcome = session.scalars(select(Monitor)).one(), session.scalars(select(OutcomeRecord)).one()
    database.close()
    assert (monitor.outcomes, monitor.misses, monitor.log_peak, monitor.contradicted_at) == (1, 1, 2.5, 7.0)
    assert (monitor.issued, monitor.reported, monitor.sizes, monitor.size_log_capitals) == (0, 0, 0, None)
    assert (outcome.state, outcome.number, outcome.misses, outcome.case_hash, outcome.size) == (
        "counted",
        1,
        1,
        None,
        None,
    )
