"""Predictors of scikit-learn models, saved without a pickle."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from certiset.core.errors import ModelError
from certiset.core.fit import fit, load

NAMES = np.array(["ant", "bee", "cat"])
AS_IT_IS: dict[str, Any] = {"alpha": 0.1, "method": "standard"}
NUMBERS: dict[str, Any] = {**AS_IT_IS, "score": "residual"}


def problem(rows: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rows)
    return np.eye(3)[y] + 0.5 * rng.normal(size=(rows, 3)), NAMES[y]


X, Y = problem(400)
TRAIN, TRAIN_Y = problem(200, seed=1)


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_depth=4), LogisticRegression()])
def test_what_is_loaded_gives_the_sets_of_the_original(estimator: Any, tmp_path: Path) -> None:
    original = fit(estimator.fit(TRAIN, TRAIN_Y), X, Y, **AS_IT_IS)
    original.save(tmp_path)
    loaded = load(tmp_path)
    assert loaded.predict_set(X).to_json() == original.predict_set(X).to_json()
    assert loaded.certificate.verify()
    assert loaded.certificate.model is not None
    assert (loaded.certificate.model.rows, loaded.labels) == ("proved", tuple(NAMES))
    assert loaded.certificate.id != original.certificate.id


def test_a_pipeline_keeps_its_columns(tmp_path: Path) -> None:
    table, train = (pd.DataFrame(x, columns=["a", "b", "c"]) for x in (X, TRAIN))
    pipeline = make_pipeline(StandardScaler(), LinearRegression()).fit(train, TRAIN.sum(axis=1))
    original = fit(pipeline, table, X[:, 0], **NUMBERS)
    original.save(tmp_path)
    loaded, turned = load(tmp_path), table[["c", "a", "b"]]
    assert np.allclose(
        loaded.predict_set(turned, member=0).columns()["lower"],
        original.predict_set(table, member=0).columns()["lower"],
        atol=1e-3,
    )


def test_what_cannot_be_converted_is_refused_with_the_reason(tmp_path: Path) -> None:
    squares = make_pipeline(FunctionTransformer(np.square), LogisticRegression()).fit(TRAIN, TRAIN_Y)
    with pytest.raises(ModelError, match=r"cannot be converted to ONNX .* Export it to an ONNX file"):
        fit(squares, X, Y, **AS_IT_IS).save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_conversion_that_says_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = LogisticRegression().fit(TRAIN, TRAIN_Y)
    other = LogisticRegression().fit(TRAIN[:40], TRAIN_Y[:40])
    found = fit(trained, X, Y, **AS_IT_IS)
    assert found.conversion is not None
    monkeypatch.setattr(found.conversion, "model", other)
    with pytest.raises(ModelError, match=r"says something else, by 0\.\d+ in row \d+"):
        found.save(tmp_path)


def test_a_function_says_what_to_do_instead(tmp_path: Path) -> None:
    neighbours = KNeighborsClassifier().fit(TRAIN, TRAIN_Y)
    with pytest.raises(ModelError, match=r"is a program in this process\. Export it to an ONNX file"):
        fit(neighbours.predict_proba, X, Y, **AS_IT_IS).save(tmp_path)
