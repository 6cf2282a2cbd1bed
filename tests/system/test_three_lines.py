"""Three lines for each kind of model, counted and run; what comes before them is a trained model and its rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from torch import nn

from tests.core.models import onnx_files

LINES = """
import certiset
predictor = certiset.fit(model, X, y, alpha=0.1)
sets, promise = predictor.predict_set(X), predictor.certificate.statement
"""


def given(kind: str, folder: Path) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=390)
    x = np.eye(3)[y] + 0.4 * rng.normal(size=(390, 3))
    names = np.array(["ant", "bee", "cat"])[y]
    trained = LogisticRegression().fit(x[:90], names[:90])
    x, y, names = x[90:], y[90:], names[90:]
    if kind == "classifier":
        return trained, x, names
    if kind == "regressor":
        return LinearRegression().fit(x, x.sum(axis=1)), x, x.sum(axis=1) + rng.normal(size=300)
    if kind == "torch":
        return nn.Sequential(nn.Linear(3, 3)), x.astype(np.float32), names
    if kind == "onnx":
        file = folder / "model.onnx"
        file.write_bytes(onnx_files.linear())
        return str(file), rng.normal(size=(300, 4)).astype(np.float32), rng.integers(3, size=300)
    return trained.predict_proba, x, names


@pytest.mark.parametrize("kind", ["classifier", "regressor", "torch", "onnx", "function"])
def test_three_lines_are_enough(kind: str, tmp_path: Path) -> None:
    model, x, y = given(kind, tmp_path)
    assert len(LINES.strip().splitlines()) == 3
    scope: dict[str, Any] = {"model": model, "X": x, "y": y}
    exec(LINES, scope)
    assert scope["sets"].contains(y).mean() >= 0.9
    assert "contain the truth" in scope["promise"]
