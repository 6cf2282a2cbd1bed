"""`fit` takes models as their frameworks have them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from torch import nn

from certiset.core.errors import DataError, ModelError
from certiset.core.fit import Predictor, fit, load
from certiset.core.models import Model

NAMES = np.array(["ant", "bee", "cat"])
AS_IT_IS: dict[str, Any] = {"alpha": 0.1, "method": "standard"}


def problem(rows: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Three classes around three corners, by name."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rows)
    return np.eye(3)[y] + 0.5 * rng.normal(size=(rows, 3)), NAMES[y]


X, Y = problem(600)
TRAIN, TRAIN_Y = problem(300, seed=1)


@pytest.fixture(scope="module")
def regression() -> LogisticRegression:
    return LogisticRegression().fit(TRAIN, TRAIN_Y)


@pytest.fixture(scope="module")
def predictor(regression: LogisticRegression) -> Predictor:
    return fit(regression, X, Y, **AS_IT_IS)


def test_a_classifier_gives_sets_with_the_names_of_its_classes(
    predictor: Predictor, regression: LogisticRegression
) -> None:
    sets = predictor.predict_set(X)
    first = sets[0]
    assert first["names"] == [str(NAMES[label]) for label in first["labels"]]
    assert sets.contains(Y).mean() >= 0.9
    # The score is the logarithm of the classifier's own probabilities, so that sets are its likeliest classes.
    shares = regression.predict_proba(X)
    least = np.where(sets.columns()["mask"], shares, 1).min(axis=1)
    assert np.all(np.where(sets.columns()["mask"], 0, shares).max(axis=1) <= least)


def test_that_it_is_a_function_of_one_row_is_a_stated_assumption(predictor: Predictor) -> None:
    certificate = predictor.certificate
    assert certificate.model is not None
    assert (certificate.model.rows, certificate.model.labels) == ("assumed", NAMES.tolist())
    assert "The model's output for a row depends on that row alone." in certificate.assumptions
    assert certificate.verify()


def test_sets_do_not_depend_on_the_rest_of_the_batch(predictor: Predictor) -> None:
    whole = predictor.predict_set(X[:40], member=0).columns()["mask"]
    alone = np.concatenate([predictor.predict_set(X[row : row + 1], member=0).columns()["mask"] for row in range(40)])
    assert np.array_equal(whole, alone)
    assert len(predictor.predict_set(X[:0])) == 0


@pytest.mark.parametrize("values", [np.array([3, 7, 9]), np.array([2.0, 5.0, 8.0])])
def test_classes_that_are_other_numbers_are_known_by_these_numbers(values: NDArray[Any]) -> None:
    codes, train = np.searchsorted(NAMES, Y), np.searchsorted(NAMES, TRAIN_Y)
    found = fit(RidgeClassifier().fit(TRAIN, values[train]), X, values[codes], **AS_IT_IS)
    sets = found.predict_set(X)
    assert sets.contains(values[codes]).mean() >= 0.9
    assert set(sets[0]["names"]) <= {str(int(value)) for value in values}


def test_a_regressor_gives_intervals() -> None:
    weights = np.array([1.0, -2.0, 3.0])
    noise = np.random.default_rng(0).normal(size=600)
    found = fit(LinearRegression().fit(TRAIN, TRAIN @ weights), X, X @ weights + noise, **AS_IT_IS, score="residual")
    sets = found.predict_set(X)
    assert sets.contains(X @ weights).all()
    assert 3.2 < float(sets.size[0]) < 5


class TestTables:
    """Text and missing values go to a pipeline as they are."""

    @staticmethod
    def table(x: NDArray[np.float64]) -> pd.DataFrame:
        found = pd.DataFrame(x, columns=["a", "b", "c"])
        found["side"] = np.where(x[:, 0] > 0.5, "left", "right")
        found.loc[::5, "a"] = np.nan
        found.loc[::7, "side"] = None
        return found

    @pytest.fixture(scope="class")
    @classmethod
    def pipeline(cls) -> Any:
        columns = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["side"]), (SimpleImputer(), ["a", "b", "c"])
        )
        return make_pipeline(columns, LogisticRegression()).fit(cls.table(TRAIN), TRAIN_Y)

    @pytest.fixture(scope="class")
    @classmethod
    def predictor(cls, pipeline: Any) -> Predictor:
        return fit(pipeline, cls.table(X), Y, **AS_IT_IS)

    def test_sets_are_those_of_the_pipeline(self, predictor: Predictor, pipeline: Any) -> None:
        table = self.table(X)
        assert predictor.predict_set(table).contains(Y).mean() >= 0.9
        unseen = table.iloc[:3].assign(side="above")
        sets, shares = predictor.predict_set(unseen), pipeline.predict_proba(unseen)
        assert np.array_equal(
            sets.columns()["mask"], shares >= np.where(sets.columns()["mask"], shares, 1).min(axis=1, keepdims=True)
        )

    def test_columns_are_known_by_their_names(self, predictor: Predictor) -> None:
        table = self.table(X[:20])
        turned = table[["side", "c", "b", "a"]]
        given, other = predictor.predict_set(table, member=0), predictor.predict_set(turned, member=0)
        assert np.array_equal(given.columns()["mask"], other.columns()["mask"])
        assert predictor.certificate.data is not None
        assert predictor.certificate.data.columns == ["a", "b", "c", "side"]

    def test_a_missing_column_is_named(self, predictor: Predictor) -> None:
        with pytest.raises(DataError, match="takes a column 'side', and x has none"):
            predictor.predict_set(self.table(X[:5]).drop(columns="side"))

    def test_a_saved_index_is_noticed(self, predictor: Predictor) -> None:
        with pytest.raises(DataError, match="'Unnamed: 0' looks like a saved row index"):
            predictor.predict_set(self.table(X[:5]).assign(**{"Unnamed: 0": range(5)}))

    def test_columns_that_name_clusters_are_no_inputs(self, pipeline: Any) -> None:
        table = self.table(X).assign(patient=[f"p{row // 2}" for row in range(len(X))])
        found = fit(pipeline, table, Y, clusters="patient", **AS_IT_IS)
        assert found.certificate.coverage.n == len(X) // 2
        assert len(found.predict_set(self.table(X[:4]))) == 4


class TestFunctions:
    def test_probabilities_are_known_by_their_sum_and_names_by_the_truths(self, regression: LogisticRegression) -> None:
        found = fit(regression.predict_proba, X, Y, **AS_IT_IS)
        assert found.scorer.model.manifest.outputs == "probabilities"
        assert found.labels == tuple(NAMES)

    def test_rows_that_depend_on_each_other_are_refused(self) -> None:
        with pytest.raises(ModelError, match="depends on the rows around it"):
            fit(lambda rows: rows - rows.mean(axis=0), X, Y, **AS_IT_IS)

    def test_outputs_that_depend_on_the_order_are_refused(self) -> None:
        def ranked(rows: NDArray[Any]) -> NDArray[Any]:
            return rows + np.arange(len(rows))[:, None]

        with pytest.raises(ModelError, match="depends on the rows around it"):
            fit(ranked, X, Y, **AS_IT_IS)

    def test_chance_is_refused(self) -> None:
        rng = np.random.default_rng(0)
        with pytest.raises(ModelError, match="each time"):
            fit(lambda rows: rng.normal(size=(len(rows), 3)), X, Y, **AS_IT_IS)

    def test_its_own_error_is_shown(self) -> None:
        with pytest.raises(ModelError, match=r"failed on rows of x, an array of shape \(64, 3\): KeyError"):
            fit(lambda rows: {"yes": rows}["no"], X, Y, **AS_IT_IS)


class TestTorch:
    def test_linear_layers_alone_are_a_model_that_can_be_saved(self, tmp_path: Path) -> None:
        network = nn.Sequential(nn.Flatten(), nn.Linear(3, 5), nn.Tanh(), nn.Dropout(), nn.Linear(5, 3), nn.Softmax(1))
        found = fit(network, X.astype(np.float32), Y, **AS_IT_IS)
        manifest = found.scorer.model.manifest.to_json()
        assert manifest["head"] == {"kind": "mlp", "widths": [3, 5, 3], "activation": "tanh"}
        found.save(tmp_path)
        assert load(tmp_path).predict_set(X[:5], member=0).to_json() == found.predict_set(X[:5], member=0).to_json()

    def test_the_last_layer_of_any_module_is_tunable(self) -> None:
        found = fit(_Network(), X.astype(np.float32), Y, **AS_IT_IS)
        manifest = found.scorer.model.manifest.to_json()
        assert (manifest["backbone"]["kind"], manifest["head"]["widths"]) == ("in_process", [4, 3])
        assert found.certificate.model is not None
        assert found.certificate.model.rows == "assumed"

    def test_a_layer_can_be_named_and_must_be_the_last(self) -> None:
        model = Model.from_torch(_Network(), input_shape=[3], head="last")
        assert fit(model, X, Y, **AS_IT_IS).scorer.model.head.parameters == 15
        with pytest.raises(ModelError, match="first is not a linear layer whose outputs are the module's"):
            fit(Model.from_torch(_Network(), head="first"), X, Y, **AS_IT_IS)

    def test_what_has_no_last_layer_is_kept_whole(self) -> None:
        network = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))
        manifest = fit(network, X.astype(np.float32), Y, **AS_IT_IS).scorer.model.manifest.to_json()
        assert (manifest["backbone"]["kind"], manifest["head"]["kind"]) == ("in_process", "identity")

    def test_the_module_stays_as_it_was(self) -> None:
        network = _Network().train()
        fit(network, X.astype(np.float32), Y, **AS_IT_IS)
        assert network.training
        assert all(value.requires_grad for value in network.parameters())


class _Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.last(nn.functional.silu(self.first(x)))
        return found


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "The model is int. Give a fitted scikit-learn estimator"),
        (RandomForestClassifier, "The model is the class RandomForestClassifier, not a model made of it"),
        (RandomForestClassifier(), "has no classes_: fit it first"),
        ("model.pkl", "The model is str"),
    ],
)
def test_what_is_no_model_is_refused_with_what_is_one(given: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        fit(given, X, Y, **AS_IT_IS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Model.from_torch, "takes a torch module, not int"),
        (Model.from_predict, "takes a function, not int"),
        (Model.from_onnx, "takes the path of an .onnx file, or its bytes, not int"),
    ],
)
def test_each_way_says_at_once_what_it_takes(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make(3)


def test_classes_that_are_not_counted_from_zero_are_said_to_be_so() -> None:
    codes = np.searchsorted(NAMES, Y)
    with pytest.raises(
        DataError, match=r"3 outputs, one for each class, and y holds whole numbers from 1 to 3: .* 0 to 2"
    ):
        fit(nn.Linear(3, 3), X, codes + 1, **AS_IT_IS)
    with pytest.raises(DataError, match="y must be from 0 to 1"):
        fit(lambda rows: rows, X[:, :2], 1 + (codes > 0), **AS_IT_IS)
    # Two outputs may also be the quantiles of one number.
    found = fit(lambda rows: rows, np.sort(X[:, :2]), codes + 3, score="cqr", **AS_IT_IS)
    assert len(found.predict_set(X[:4, :2])) == 4


def test_a_row_whose_output_is_no_number_is_named() -> None:
    broken = X.copy()
    broken[4, 1] = np.nan
    with pytest.raises(DataError, match=r"not finite for row 5 of x, which holds numbers that are missing"):
        fit(lambda rows: rows, broken, Y, **AS_IT_IS)
    broken = X.copy()
    broken[[104, 304], 1] = np.nan
    with pytest.raises(DataError, match=r"not finite for 2 of 600 rows of x"):
        fit(lambda rows: rows, broken, Y, **AS_IT_IS)


def test_shapes_that_do_not_fit_are_said_with_those_that_do() -> None:
    with pytest.raises(DataError, match=r"rows of shape \(3,\), which are not as many numbers as input_shape \(2, 2\)"):
        fit(Model.from_torch(nn.Linear(4, 3), input_shape=[2, 2]), X, Y, **AS_IT_IS)
    with pytest.raises(ModelError, match=r"an array of shape \(64, 3\)"):
        fit(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), X, Y, **AS_IT_IS)


def test_a_model_that_has_seen_no_rows_shows_its_name_and_no_address() -> None:
    assert repr(Model.from_torch(nn.Linear(4, 3))).startswith("TorchModel of Linear: fit makes a model of it")
    assert " at 0x" not in repr(Model.from_predict(lambda rows: rows))
    assert "RandomForestClassifier" in repr(Model.from_sklearn(RandomForestClassifier()))
    assert "OnnxModel of net" in repr(Model.from_onnx("folder/net.onnx"))
