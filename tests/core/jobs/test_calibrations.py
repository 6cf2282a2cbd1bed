"""A calibration is requested once, with every option written down, and refused with the field at fault."""

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.bounds import TooFewPointsError
from certiset.core.errors import ConflictError, DamagedFileError, DataError, NotFoundError, OptionError
from certiset.core.fit.options import FitOptions
from certiset.core.jobs import add_dataset, add_model
from certiset.core.jobs.calibrations import (
    CalibrationRequest,
    cancel_calibration,
    request_calibration,
    retry_calibration,
)
from certiset.core.settings import Settings
from certiset.core.store import Store
from tests.core.fit.problems import class_data, class_model
from tests.databases import new_store


class Told:
    """In place of an announcer."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def announce(self, calibration_id: str) -> bool:
        self.ids.append(calibration_id)
        return True


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(Settings(home=tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def told() -> Any:
    return Told()


def inputs(store: Store, labels_from: int = 0) -> dict[str, str]:
    x, y = class_data(300, 3)
    file = store.settings.home / "data.npz"
    np.savez(file, x=x, y=y + labels_from)
    dataset, _ = add_dataset(store, "ada", file, filename="data.npz")
    model, _ = add_model(store, "ada", class_model().manifest, class_model().tensors())
    return {"dataset_id": dataset.id, "model_id": model.id}


def test_every_option_is_written_down_so_that_a_later_default_changes_nothing(store: Store, told: Any) -> None:
    request = CalibrationRequest.read({**inputs(store), "confidence_level": 0.8, "prior": {"steps": 30}, "name": "one"})
    record = request_calibration(store, "ada", request, announcer=told)
    assert told.ids == [record.id]
    assert (record.name, record.status) == ("one", "queued")
    assert set(record.options) == set(FitOptions.model_fields) - {"confidence_level"}
    assert record.options["alpha"] == 0.2
    assert record.options["alpha_hat"] == [0.04, 0.07, 0.1, 0.13, 0.16]
    assert record.options["score"] == {"kind": "log_prob"}
    assert record.options["prior"]["steps"] == 30
    assert FitOptions.read(record.options).to_json() == record.options
    left_open = {"size_cap", "size_bound", "device", "clusters", "order", "groups", "group_list"}
    left_open |= {"weights", "weight_bound", "prevalences"}
    chosen = {"method", "guarantee", "tune", "prior.split", "prior.rate", "prior.batch", "prior.dropout"}
    assert undecided(record.options) == left_open | chosen, "which revealed rows choose"
    named = CalibrationRequest.read({**inputs(store), "method": "learned"})
    options = request_calibration(store, "ada", named, announcer=told).options
    assert (options["prior"]["split"], options["guarantee"]) == (0.5, "per_draw")
    assert undecided(options) == left_open


def table(store: Store) -> dict[str, str]:
    x, y = class_data(300, 3)
    lines = [f"{a},{b},{truth},p{row // 2},{row}" for row, ((a, b), truth) in enumerate(zip(x, y, strict=True))]
    file = store.settings.home / "table.csv"
    file.write_text("\n".join(["first,second,y,patient,day", *lines]))
    dataset, _ = add_dataset(store, "ada", file, filename="table.csv")
    model, _ = add_model(store, "ada", class_model().manifest, class_model().tensors())
    return {"dataset_id": dataset.id, "model_id": model.id}


def test_columns_are_looked_for_before_anything_is_queued(store: Store, told: Any) -> None:
    given = {**table(store), "order": "day"}
    record = request_calibration(
        store, "ada", CalibrationRequest.read({**given, "clusters": "patient"}), announcer=told
    )
    assert (record.options["clusters"], record.options["order"]) == ("patient", "day")
    for options, words, field in (
        ({"clusters": "pateint"}, "clusters: there is no column 'pateint'; the nearest is 'patient'", "clusters"),
        ({"order": "patient"}, "order must be a column of numbers or of times", "order"),
        (
            {"order": None},
            "the table has 3 columns of numbers for them: .* text are no inputs: 'patient'",
            "dataset_id",
        ),
    ):
        with pytest.raises(DataError, match=words) as caught:
            request_calibration(store, "ada", CalibrationRequest.read({**given, **options}), announcer=told)
        assert caught.value.field == field
    few = {**given, "clusters": "patient", "alpha": 0.01}
    with pytest.raises(TooFewPointsError, match="150 clusters leave n = 150"):
        request_calibration(store, "ada", CalibrationRequest.read(few), announcer=told)
    assert told.ids == [record.id]


def test_a_model_of_which_nothing_was_said_is_judged_when_it_is_calibrated(store: Store, told: Any) -> None:
    asked = inputs(store)
    with store.writing() as work:
        work.models.get("ada", asked["model_id"]).rows = None
    request_calibration(store, "ada", CalibrationRequest.read(asked), announcer=told)
    with store.reading() as work:
        assert work.models.get("ada", asked["model_id"]).rows == "proved"


def test_data_in_a_store_elsewhere_are_checked_without_being_in_memory(
    tmp_path: Path, told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a copy on disk, written in pieces, that is gone afterwards."""
    elsewhere = new_store(Settings(home=tmp_path, artifacts_url=f"memory://{tmp_path}"))
    x = np.random.default_rng(0).normal(size=(4000, 1000)).astype(np.float32)
    file = tmp_path / "data.npz"
    np.savez(file, x=x, y=np.arange(4000) % 3)
    manifest = {"task": "classification", "classes": 3, "input_shape": [1000]}
    weights = {"head.0.weight": np.ones((3, 1000)), "head.0.bias": np.zeros(3)}
    model, _ = add_model(elsewhere, "ada", {**manifest, "head": {"kind": "mlp", "widths": [1000, 3]}}, weights)
    dataset, _ = add_dataset(elsewhere, "ada", file, filename="data.npz")
    monkeypatch.setattr("certiset.core.store.artifacts._LARGE_PIECE", 2**20)
    monkeypatch.setattr(elsewhere.artifacts, "get", lambda _: pytest.fail("a file was read as a whole"))
    request = CalibrationRequest.read({"dataset_id": dataset.id, "model_id": model.id})
    tracemalloc.start()
    try:
        record = request_calibration(elsewhere, "ada", request, announcer=told)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert record.status == "queued"
    assert most < x.nbytes / 2
    assert list(elsewhere.settings.scratch.iterdir()) == []
    elsewhere.artifacts._fs.pipe_file(elsewhere.artifacts._path(dataset.artifact), b"damaged")
    with pytest.raises(DamagedFileError, match=f"{dataset.artifact} is damaged"):
        request_calibration(elsewhere, "ada", request, announcer=told)
    assert list(elsewhere.settings.scratch.iterdir()) == []
    elsewhere.close()


def undecided(options: dict[str, Any], place: str = "") -> set[str]:
    """The options that a fit still has to decide by itself.

    Of these, the cap of the size is taken from the data, its bound is the tightest that fits on a certificate, and the
    device is the worker's; no clusters and no order mean that rows are independent.
    """
    found = {place + name for name, value in options.items() if value in (None, "auto")}
    inner = ((name, value) for name, value in options.items() if isinstance(value, dict))
    return found.union(*(undecided(value, f"{place}{name}.") for name, value in inner))


def test_defaults_for_the_model_are_written_down_and_what_was_given_stays(store: Store, told: Any) -> None:
    given = inputs(store)
    prior, optimizer = {"steps": 7, "rate": 0.5, "batch": 9, "dropout": 0.25}, {"rate": 0.125}
    request = CalibrationRequest.read({**given, "tune": "head", "prior": prior, "optimizer": optimizer})
    record = request_calibration(store, "ada", request, announcer=told)
    assert record.options["prior"].items() >= prior.items()
    assert record.options["optimizer"].items() >= optimizer.items()
    assert record.options["tune"] == "head"


def test_the_same_request_under_the_same_key_is_the_same_calibration(store: Store, told: Any) -> None:
    given = inputs(store)

    def ask(key: str | None, **options: Any) -> str:
        request = CalibrationRequest.read({**given, **options})
        return request_calibration(store, "ada", request, idempotency_key=key, announcer=told).id

    first = ask("k", seed=1)
    assert ask("k", seed=1) == first
    assert told.ids == [first]
    with pytest.raises(ConflictError, match="another request"):
        ask("k", seed=2)
    assert len({first, ask("other", seed=1), ask(None, seed=1), ask(None, seed=1)}) == 4


# What version 0.1.0 made of these requests.
DIGESTS: list[tuple[dict[str, Any], str]] = [
    ({}, "ef91b18e812cc68decfa33acc0a87e9c6ca2c54f5eed7b26dde5e82cf8ed4fa1"),
    (
        {"confidence_level": 0.9, "name": "first"},
        "5cd379a69239ac4543ec47050c59be64073cb3d3d6d8a01a537541acb2900686",
    ),
    (
        {
            "seed": 1,
            "alpha": 0.05,
            "delta": 0.01,
            "gamma": 0.2,
            "method": "learned",
            "guarantee": "posterior",
            "bound": "seeger",
            "tune": "both",
            "members": 8,
            "device": "cpu",
            "dtype": "float64",
            "size_cap": 3,
            "allow_missing_classes": True,
        },
        "43afb2c6e9826994b4d90a40486709ee8cfefc7b4750b2feb22ff028915c93a2",
    ),
    (
        {"score": {"kind": "raps", "penalty": 0.1, "free": 3}, "alpha_hat": [0.05, 0.02]},
        "fedae4d91c4acfa70cbcd2f76bc4f3501ec3840aebfc945f3936bb52a50d4ee9",
    ),
    (
        {
            "score": {"kind": "aps"},
            "alpha_hat": 0.05,
            "prior": {"split": 0.25, "steps": 30, "scale": 1},
            "optimizer": {"kind": "augmented_lagrangian", "steps": 5, "rate": 0.1},
        },
        "3341e445284a85a890bd57105ccf5d8ba298f932cb688f0076705fed5bac24ff",
    ),
    (
        {"alpha_hat": "grid", "prior": {}, "optimizer": {}},
        "0af6ba58bc0cb71d7f6090ba5d5a475be8ec999fe2b0910cc58bbbbfb69e7ca6",
    ),
]


@pytest.mark.parametrize(("given", "digest"), DIGESTS, ids=[json.dumps(given)[:30] for given, _ in DIGESTS])
def test_a_request_repeated_after_an_upgrade_is_recognised(given: dict[str, Any], digest: str) -> None:
    assert CalibrationRequest.read({"dataset_id": "ds-1", "model_id": "mod-1", **given}).sha256 == digest


def test_refusals_name_the_field_of_the_request(store: Store, told: Any) -> None:
    good, shifted = inputs(store), inputs(store, labels_from=1)
    for given, kind, field in (
        ({**good, "alpha": 0.001}, TooFewPointsError, "dataset_id"),
        (shifted, DataError, "dataset_id"),
        ({**good, "score": {"kind": "residual"}}, OptionError, "score"),
        ({**good, "prior": {"objective": "laplace"}}, OptionError, "prior.objective"),
    ):
        with pytest.raises(kind) as refused:
            request_calibration(store, "ada", CalibrationRequest.read(given), announcer=told)
        assert refused.value.field == field
    for wrong in ({**good, "dataset_id": "ds-0"}, {**good, "model_id": "mod-0"}):
        with pytest.raises(NotFoundError):
            request_calibration(store, "ada", CalibrationRequest.read(wrong), announcer=told)
    with pytest.raises(NotFoundError):
        request_calibration(store, "eve", CalibrationRequest.read(good), announcer=told)
    assert told.ids == []


def test_cancelling_is_for_the_owner(store: Store, told: Any) -> None:
    record = request_calibration(store, "ada", CalibrationRequest.read(inputs(store)), announcer=told)
    with pytest.raises(NotFoundError):
        cancel_calibration(store, "eve", record.id)
    assert cancel_calibration(store, "ada", record.id).status == "cancelled"
    assert cancel_calibration(store, "ada", record.id).status == "cancelled"


def test_operators_cancel_and_retry_for_anybody(store: Store, told: Any) -> None:
    record = request_calibration(store, "ada", CalibrationRequest.read(inputs(store)), announcer=told)
    with pytest.raises(ConflictError, match="only a failed or cancelled one"):
        retry_calibration(store, record.id, told)
    assert told.ids == [record.id]
    assert cancel_calibration(store, None, record.id).status == "cancelled"
    assert retry_calibration(store, record.id, told).status == "queued"
    assert told.ids == [record.id, record.id]
    with pytest.raises(NotFoundError):
        cancel_calibration(store, None, "cal-0")
    with pytest.raises(NotFoundError):
        retry_calibration(store, "cal-0", told)
