"""What the model says by itself: the same as the model alone, whatever was tuned and however many rows come."""

import numpy as np
import pytest

from certiset.core.errors import DataError
from certiset.core.fit import Predictor
from certiset.core.fit.seen_rows import CHUNK
from tests.core.fit.problems import class_data, class_model, toy_data, toy_model


def test_probabilities_are_those_of_the_model_as_given(classes: Predictor) -> None:
    x, _ = class_data(40, 9)
    model = class_model()
    features = model.features(np.asarray(x, dtype=np.float64), classes.device, classes.theta.dtype)
    logits = model.given_outputs(features).double().numpy()
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    found = classes.model_outputs(x)
    np.testing.assert_allclose(found, shares / shares.sum(axis=1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_predictions_are_in_the_unit_of_the_targets(toy: Predictor) -> None:
    x, _ = toy_data(30, 9)
    model = toy_model()
    features = model.features(np.asarray(x, dtype=np.float64), toy.device, toy.theta.dtype)
    np.testing.assert_allclose(toy.model_outputs(x), model.given_outputs(features).numpy(), rtol=1e-5)


def test_rows_do_not_depend_on_their_company(classes: Predictor) -> None:
    x = np.random.default_rng(0).normal(size=(CHUNK + 3, 2))
    together = classes.model_outputs(x)
    assert len(together) == CHUNK + 3
    for row in (0, CHUNK - 1, CHUNK + 2):
        np.testing.assert_array_equal(classes.model_outputs(x[row : row + 1])[0], together[row])


def test_inputs_that_no_set_could_be_given_for_are_refused(classes: Predictor) -> None:
    with pytest.raises(DataError, match="row 1"):
        classes.model_outputs([[np.nan, 0.0]])
