"""The heart of what auto and progressive promise: nothing is chosen by rows that calibrate.

Every value of the rows that were not revealed is replaced, inputs and truths alike. What was compared, what was taken,
how many rows were revealed, the blocks, their ranks and weights, and the first member must stay as they were, to the
last bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.data.arrays import check_data
from certiset.core.fit import Predictor, fit
from certiset.core.fit.forecast import Trial, Way
from certiset.core.fit.methods import auto
from certiset.core.fit.splitting import split
from certiset.core.models import Model
from tests.core.fit.problems import (
    Arrays,
    class_data,
    class_model,
    shifted_logits,
    shifted_logits_model,
    toy_data,
    toy_model,
    untrained,
    untrained_model,
)

PROBLEMS: dict[str, tuple[Callable[[], Model], Callable[[int, int], Arrays]]] = {
    "as given": (class_model, class_data),
    "tuned": (toy_model, toy_data),
    "pool": (untrained_model, untrained),
    "logits": (shifted_logits_model, shifted_logits),
}


def unrevealed(predictor: Predictor, model: Model, data: Arrays, seed: int) -> Any:
    selection = predictor.certificate.selection
    assert selection is not None
    assert selection.revealed == predictor.certificate.provenance.n_tune
    checked = check_data(model, *data, allow_missing_classes=True)
    return split(seed, selection.revealed, checked).calibration.numpy()


def replaced(data: Arrays, places: Any, seed: int) -> Arrays:
    """Other inputs, far away, and other truths in these rows."""
    rng = np.random.default_rng(seed)
    x, y = (array.copy() for array in data)
    x[places] = 7 * rng.normal(size=x[places].shape)
    y[places] = rng.permutation(y[places]) if y.dtype.kind == "i" else 50 * rng.normal(size=y[places].shape)
    return x, y


def learns_more(trials: list[Trial], revealed: int, rows: int, revealed_later: int | None, **_: Any) -> Way:
    """Goes on to the second look whatever the first one says, and takes the best of what is tuned."""
    tuned = [trial for trial in trials if trial.family is not None]
    return Way(min(tuned, key=lambda trial: trial.heights[1]), revealed_later is not None, 0.0)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("method", ["auto", "auto, two looks", "progressive"])
def test_the_choice_does_not_depend_on_rows_that_calibrate(
    method: str, problem: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if method == "auto, two looks":
        method = "auto"
        monkeypatch.setattr(auto, "best_way", learns_more)
    make_model, make_data = PROBLEMS[problem]
    model, data = make_model(), make_data(900, seed)
    options: dict[str, Any] = {"method": method, "seed": seed, "prior": {"steps": 15}, "allow_missing_classes": True}
    one = fit(model, *data, **options)
    places = unrevealed(one, model, data, seed)
    two = fit(model, *replaced(data, places, seed), **options)
    first, second = one.certificate, two.certificate
    assert first.provenance.dataset_sha256 != second.provenance.dataset_sha256
    assert second.selection == first.selection
    assert second.provenance.n_tune == first.provenance.n_tune
    for name in ("guarantee", "bound", "n", "k", "sizes", "ranks", "rank_weights", "union", "alpha_hat", "tail"):
        assert getattr(second.coverage, name) == getattr(first.coverage, name), name
    assert torch.equal(one.theta[0], two.theta[0])
    assert [member.tau for member in first.members] != [member.tau for member in second.members]
    assert second.efficiency.cap == first.efficiency.cap


@pytest.mark.parametrize("method", ["auto", "progressive"])
def test_it_does_depend_on_revealed_rows(method: str) -> None:
    """Or the test above would say nothing."""
    model, (x, y) = untrained_model(), untrained(900, 0)
    options: dict[str, Any] = {"method": method, "prior": {"steps": 15}}
    one = fit(model, x, y, **options)
    calibrating = unrevealed(one, model, (x, y), 0)
    places = np.setdiff1d(np.arange(900), calibrating)
    two = fit(model, *replaced((x, y), places, 0), **options)
    assert one.certificate.selection != two.certificate.selection
