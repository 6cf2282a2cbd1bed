"""What a fit says about labels in another order, empty sets and coarse arithmetic; of honest problems, nothing."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certiset.core.fit import Predictor, fit
from certiset.core.fit.caveats import label_caveats, rounding_caveats, set_caveats
from certiset.core.models import Model
from tests.core.fit.problems import class_data, class_model

CLASSES = 10


def logits_model(classes: int = CLASSES) -> Model:
    return Model.from_manifest({"task": "classification", "classes": classes, "input_shape": [classes]})


def problem(rows: int, strength: float, seed: int, shares: NDArray[Any] | None = None) -> tuple[Any, Any]:
    """Logits that know the label: by much, or hardly."""
    rng = np.random.default_rng(seed)
    y = rng.choice(CLASSES, size=rows, p=shares)
    bias = 0.0 if shares is None else np.log(shares)
    return strength * np.eye(CLASSES)[y] + rng.normal(size=(rows, CLASSES)) + bias, y


def codes(logits: NDArray[Any], y: NDArray[Any]) -> list[str]:
    return [caveat.code for caveat in label_caveats(logits, y)]


@pytest.mark.parametrize("strength", [0.5, 1.0, 3.0, 10.0])
def test_honest_problems_have_no_caveats_however_hard(strength: float) -> None:
    for seed in range(10):
        assert codes(*problem(1000, strength, seed)) == []


def test_rare_classes_that_are_never_the_likeliest_are_no_mistake() -> None:
    shares = np.array([0.91] + [0.01] * 9)
    for seed in range(10):
        logits, y = problem(6000, 1.5, seed, shares)
        assert np.mean(logits.argmax(axis=1) == 0) > 0.95
        assert codes(logits, y) == []


@pytest.mark.parametrize("strength", [1.0, 3.0, 10.0])
def test_labels_in_another_order_are_noticed(strength: float) -> None:
    for seed in range(10):
        logits, y = problem(1000, strength, seed)
        assert "accuracy_near_chance" in codes(logits, (y + 1) % CLASSES)
        assert "class_never_first" in codes(logits, (y + 1) % CLASSES) or strength < 10


def test_two_labels_that_changed_places_are_noticed() -> None:
    logits, y = problem(2000, 10.0, 0)
    swapped = np.where(y == 3, 7, np.where(y == 7, 3, y))
    (caveat,) = label_caveats(logits, swapped)
    assert caveat.code == "class_never_first"
    assert "in every row of label 3, 7. Are the labels in the order of the model's outputs?" in caveat.message


def test_a_model_that_knows_nothing_is_near_chance() -> None:
    found = [codes(*problem(1000, 0.0, seed)) for seed in range(20)]
    assert sum("accuracy_near_chance" in caveats for caveats in found) >= 18


def test_the_certificate_of_labels_in_another_order_says_so() -> None:
    logits, y = problem(2000, 10.0, 1)
    right, wrong = (
        fit(logits_model(), logits, labels, method="standard").certificate for labels in (y, (y + 1) % CLASSES)
    )
    assert right.caveats == []
    assert {caveat.code for caveat in wrong.caveats} == {"accuracy_near_chance", "class_never_first"}
    assert wrong.efficiency.empirical > 8
    assert wrong.verify().valid


def test_the_usual_problems_have_no_caveats(toy: Predictor, classes: Predictor) -> None:
    assert classes.certificate.caveats == []
    assert {caveat.code for caveat in toy.certificate.caveats} <= {"mean_size_not_certified"}


def test_more_than_half_of_the_sets_empty_is_said() -> None:
    x, y = class_data(600, 0)
    certificate = fit(class_model(), x, y, method="standard", alpha=0.75).certificate
    assert [caveat.code for caveat in certificate.caveats] == ["empty_sets"]
    assert set_caveats(0.5, labels=True) == []


def test_rounding_that_widens_sets_is_said() -> None:
    assert rounding_caveats([0.01, 0.04], "float32") == []
    (caveat,) = rounding_caveats([0.01, 0.3], "float32")
    assert (caveat.code, "30%" in caveat.message, "float64" in caveat.message) == ("coarse_arithmetic", True, True)
