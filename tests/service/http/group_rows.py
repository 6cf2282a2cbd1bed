"""Rows of groups, of which one is rare, and what their predictors are asked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.frame import Frame, TextColumn
from certiset.core.fit import Predictor, fit
from certiset.core.models import Model

CLASSES, ROWS = 3, 600
NPZ = {"Content-Type": "application/x-npz"}


def model() -> Model:
    manifest = {"name": "logits", "task": "classification", "classes": CLASSES, "input_shape": [CLASSES]}
    return Model.from_manifest(manifest)


def rows(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Inputs, truths, regions (of which one is rare) and years."""
    rng = np.random.default_rng(seed)
    y, place = rng.integers(CLASSES, size=count), rng.choice(3, size=count, p=[0.6, 0.38, 0.02])
    x = np.array([4.0, 1.0, 1.0])[place][:, None] * np.eye(CLASSES)[y] + rng.normal(size=(count, CLASSES))
    return x, y, np.array(["north", "south", "rare"])[place], np.arange(count) % 2


def fit_by_groups() -> dict[str, Predictor]:
    x, y, region, year = rows(ROWS, 0)
    frame = Frame(x, ["a", "b", "c"], {"region": TextColumn.of(region.tolist()), "year": year})

    def fitted(**options: Any) -> Predictor:
        return fit(model(), frame, y, method="standard", **options)

    return {
        "region": fitted(groups="region"),
        "refusing": fitted(groups="region", unknown_groups="refuse"),
        "crossed": fitted(groups=["region", "year"]),
        "class": fitted(groups="class"),
        "pool": fit(model(), frame, y, method="progressive", groups="region", prior={"steps": 20}),
    }


def ids(grouped: dict[str, Predictor], name: str = "region") -> str:
    return grouped[name].certificate.predictor_id


def crossed_groups(region: NDArray[Any], year: NDArray[Any]) -> list[list[Any]]:
    return [[name, int(number)] for name, number in zip(region, year, strict=True)]


def text(row: NDArray[np.float64]) -> str:
    return ",".join(repr(float(value)) for value in row)
