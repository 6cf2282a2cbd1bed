"""Rows in groups that are not equally hard: three of labels, of which one is rare, and columns that cross."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.data.frame import Frame, TextColumn
from certiset.core.fit import Predictor
from certiset.core.models import Model

CLASSES, ROWS = 4, 900
NAMES = np.array(["a", "b", "rare"])
QUICK: dict[str, Any] = {"prior": {"steps": 20}}


def logits_model() -> Model:
    manifest = {"name": "logits", "task": "classification", "classes": CLASSES, "input_shape": [CLASSES]}
    return Model.from_manifest(manifest)


def logits(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[Any]]:
    """Rows of group b are harder, those of group rare too few."""
    rng = np.random.default_rng(seed)
    place = rng.choice(3, size=ROWS, p=[0.6, 0.38, 0.02])
    y = rng.integers(CLASSES, size=ROWS)
    x = np.array([4.0, 1.5, 1.0])[place][:, None] * np.eye(CLASSES)[y] + rng.normal(size=(ROWS, CLASSES))
    return x, y, NAMES[place]


def numbers_model() -> Model:
    return Model.from_manifest({"name": "f", "task": "regression", "input_shape": [1]})


def numbers(seed: int = 0) -> tuple[Frame, NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    x, side, level = rng.normal(size=ROWS), rng.choice(["left", "right"], size=ROWS), rng.integers(2, size=ROWS)
    y = x + rng.normal(size=ROWS) * (1 + 2 * level)
    return Frame(x[:, None], ["x"], {"side": TextColumn.of(side.tolist()), "level": level}), y


def mask_of(predictor: Predictor, x: NDArray[Any], groups: Any = None) -> NDArray[np.bool_]:
    found: Any = predictor.predict_set(x, groups=groups)
    return np.asarray(found.mask)


def scores_of(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return -torch.log_softmax(torch.from_numpy(x), dim=-1).numpy()
