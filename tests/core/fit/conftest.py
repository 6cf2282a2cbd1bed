"""Predictors that several tests only look at: a tuned scale and a tuned head."""

import pytest

from certiset.core.fit import Predictor, fit
from tests.core.fit.problems import QUICK, class_data, class_model, toy_data, toy_model


@pytest.fixture(scope="module")
def toy() -> Predictor:
    return fit(toy_model(), *toy_data(600, 0), method="learned", **QUICK)


@pytest.fixture(scope="module")
def classes() -> Predictor:
    return fit(class_model(), *class_data(600, 0), method="learned", **QUICK)
