"""Records to test with."""

import secrets
from typing import Any

from certiset.core.store import Store
from certiset.core.store.identifiers import new_id
from certiset.core.store.predictors import FitResult
from certiset.core.store.records import Calibration, Dataset, ModelRecord


def a_dataset(store: Store, tenant: str = "ada", **values: Any) -> Dataset:
    given = {
        "id": new_id("ds"),
        "tenant": tenant,
        "name": "data",
        "sha256": secrets.token_hex(32),
        "target": "y",
        "artifact": "a" * 64,
        "rows": 100,
        "x_shape": [2],
        "y_kind": "labels",
        "bytes": 1000,
    }
    with store.writing() as work:
        return work.datasets.add(Dataset(**(given | values)))


def a_model(store: Store, tenant: str = "ada", **values: Any) -> ModelRecord:
    given = {
        "id": new_id("mod"),
        "tenant": tenant,
        "name": "model",
        "task": "classification",
        "manifest": {"task": "classification", "classes": 3},
        "sha256": secrets.token_hex(32),
        "artifact": "b" * 64,
        "bytes": 1000,
    }
    with store.writing() as work:
        return work.models.add(ModelRecord(**(given | values)))


def a_calibration(store: Store, tenant: str = "ada", **values: Any) -> Calibration:
    dataset, model = a_dataset(store, tenant), a_model(store, tenant)
    with store.writing() as work:
        return work.calibrations.create(dataset, model, {"alpha": 0.1}, **values)


def a_fit_result(name: str = "1") -> FitResult:
    return FitResult(
        predictor_id=f"pred-{name}",
        certificate_id=f"cert-{name}",
        digest="d" * 64,
        alpha=0.1,
        bound="vovk_2b",
        score="log_prob",
        members=1,
        description={"format": 1},
        artifact="c" * 64,
        document="{}",
    )


def state(store: Store, calibration: Calibration) -> Calibration:
    with store.reading() as work:
        found = work.calibrations.find(calibration.id)
    assert found is not None
    return found
