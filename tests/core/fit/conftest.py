"""Predictors that several tests only look at: a tuned scale, a tuned head, groups, classes, and votes that tie."""

import pytest

from certiset.core.fit import Predictor, fit
from tests.core.fit.forests import RULES, forest
from tests.core.fit.grouped_rows import logits, logits_model
from tests.core.fit.problems import QUICK, class_data, class_model, toy_data, toy_model


@pytest.fixture(scope="module")
def toy() -> Predictor:
    return fit(toy_model(), *toy_data(600, 0), method="learned", **QUICK)


@pytest.fixture(scope="module")
def classes() -> Predictor:
    return fit(class_model(), *class_data(600, 0), method="learned", **QUICK)


@pytest.fixture(scope="module")
def by_column() -> Predictor:
    x, y, groups = logits()
    return fit(logits_model(), x, y, method="standard", groups=groups)


@pytest.fixture(scope="module")
def by_class() -> Predictor:
    x, y, _ = logits()
    return fit(logits_model(), x, y, method="standard", groups="class")


@pytest.fixture(scope="module")
def forests() -> dict[str, Predictor]:
    return {"plain": forest(), **{name: forest(**options) for name, options in RULES.items()}}
