"""Certified estimators behave as scikit-learn's own do."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from certiset.core.errors import ModelError, OptionError
from certiset.sklearn import CertifiedClassifier, CertifiedRegressor

SMALL: dict[str, Any] = {"confidence_level": 0.5, "delta": 0.5, "prefit": False, "method": "standard"}
"""a promise that the few rows of scikit-learn's checks can carry"""
_MISSING = "of a few rows half calibrate, some of a class that the others do not have"
_ALIKE = "of ten rows half calibrate, whose truths are all alike"
EXPECTED = {
    CertifiedClassifier: {
        "check_fit2d_1feature": _ALIKE,
        "check_classifier_data_not_an_array": _MISSING,
    },
    CertifiedRegressor: {
        "check_fit2d_1feature": _ALIKE,
        "check_dtype_object": "truths that are Python objects are refused in other words than scikit-learn's",
    },
}
"""checks that fail, and why they may; one of them that passes is a failure, too"""


def expected(estimator: Any) -> dict[str, str]:
    return EXPECTED[type(estimator)]


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        CertifiedClassifier(LogisticRegression(), **SMALL),
        CertifiedRegressor(LinearRegression(), conformity_score="residual", **SMALL),
    ],
    expected_failed_checks=expected,
    xfail_strict=True,
)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def problem(rows: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rows)
    return np.eye(3)[y] + 0.5 * rng.normal(size=(rows, 3)), np.array(["ant", "bee", "cat"])[y]


X, Y = problem(400)
TRAIN, TRAIN_Y = problem(200, seed=1)


@pytest.fixture(scope="module")
def trained() -> LogisticRegression:
    return LogisticRegression().fit(TRAIN, TRAIN_Y)


@pytest.fixture(scope="module")
def certified(trained: LogisticRegression) -> CertifiedClassifier:
    return CertifiedClassifier(trained, method="standard").conformalize(X, Y)


def test_conformalize_gives_sets_that_keep_the_promise(certified: CertifiedClassifier) -> None:
    assert certified.predict_set(X).contains(Y).mean() >= 0.9
    assert certified.predict(X[:3]).tolist() == certified.estimator_.predict(X[:3]).tolist()
    assert certified.certificate_.coverage.alpha == 0.1
    assert certified.certificate_.verify()


def test_a_clone_keeps_the_fitted_estimator_and_forgets_the_certificate(
    certified: CertifiedClassifier, trained: LogisticRegression
) -> None:
    copied = clone(certified)
    assert copied.estimator is trained
    assert not hasattr(copied, "predictor_")
    assert copied.get_params(deep=False) == certified.get_params(deep=False)
    unfitted = clone(CertifiedClassifier(trained, prefit=False))
    assert not hasattr(unfitted.estimator, "classes_")


def test_fit_splits_by_itself_and_keeps_clusters_together() -> None:
    made = CertifiedClassifier(LogisticRegression(), prefit=False, method="standard")
    assert made.fit(X, Y).certificate_.coverage.n == 200
    clusters = np.arange(400) // 4
    assert made.fit(X, Y, clusters=clusters).certificate_.coverage.n == 50


def test_groups_are_promised_each_and_routed_as_metadata() -> None:
    side = np.where(np.arange(400) % 2, "left", "right")
    made = CertifiedClassifier(LogisticRegression(), **SMALL).fit(X, Y, groups=side)
    assert made.certificate_.groups is not None
    assert len(made.predict_set(X[:4], groups=side[:4])) == 4
    with config_context(enable_metadata_routing=True):
        routed = CertifiedClassifier(LogisticRegression(), **SMALL).set_fit_request(groups=True, clusters=False)
        pipeline = make_pipeline(StandardScaler(), routed).fit(X, Y, groups=side)
    assert pipeline[-1].certificate_.groups is not None


def test_fit_of_a_fitted_estimator_says_what_to_call(trained: LogisticRegression) -> None:
    with pytest.raises(OptionError, match="call conformalize"):
        CertifiedClassifier(trained).fit(X, Y)


def test_it_goes_into_pipelines_and_searches() -> None:
    made = make_pipeline(StandardScaler(), CertifiedClassifier(LogisticRegression(), **SMALL)).fit(X, Y)
    assert made[-1].predict_set(made[:-1].transform(X)).contains(Y).mean() >= 0.5
    search = GridSearchCV(CertifiedClassifier(LogisticRegression(), **SMALL), {"estimator__C": [0.1, 1.0]}, cv=2)
    assert search.fit(X, Y).best_estimator_.certificate_.verify()


def test_intervals_have_two_ends() -> None:
    noise = np.random.default_rng(0).normal(size=400)
    model = LinearRegression().fit(TRAIN, TRAIN[:, 0])
    made = CertifiedRegressor(model, conformity_score="residual", method="standard").conformalize(X, X[:, 0] + noise)
    found = made.predict_interval(X)
    assert found.shape == (400, 2)
    assert np.mean((found[:, 0] <= X[:, 0] + noise) & (X[:, 0] + noise <= found[:, 1])) >= 0.9


def test_tables_are_known_by_their_columns() -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    made = CertifiedClassifier(LogisticRegression(), **SMALL).fit(table, Y)
    assert made.feature_names_in_.tolist() == ["a", "b", "c"]
    turned = made.predict_set(table[["c", "a", "b"]])
    assert np.array_equal(turned.columns()["mask"], made.predict_set(table).columns()["mask"])


def test_a_copy_for_another_process_has_no_calibration_rows(certified: CertifiedClassifier) -> None:
    content = pickle.dumps(certified)
    assert X[:1].tobytes() not in content
    copied = pickle.loads(content)
    assert np.array_equal(copied.predict_set(X[:5]).columns()["mask"], certified.predict_set(X[:5]).columns()["mask"])
    with pytest.raises(ModelError, match="no calibration rows"):
        copied.predictor_.save("never")
