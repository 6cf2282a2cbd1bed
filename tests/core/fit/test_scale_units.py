"""A learned scale sees inputs of the usual size, whatever units the data are in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from certiset.core.errors import DamagedFileError
from certiset.core.fit import Predictor, fit, load
from certiset.core.models import Model
from certiset.core.posterior.input_units import InputUnits
from tests.core.fit.problems import toy_data

OPTIONS: dict[str, Any] = {"score": "scaled_residual", "prior": {"steps": 100}}


def data(rows: int, seed: int, unit: float, center: float = 0.0) -> tuple[NDArray[Any], NDArray[Any]]:
    """What the model says, and beside it the column that the noise grows with, in that unit."""
    x, y = toy_data(rows, seed)
    return np.concatenate([np.cos(5 * x), unit * (x + center)], axis=1), y


def fitted(unit: float, center: float = 0.0, method: str = "learned") -> Predictor:
    weights = {"head.0.weight": [[1.0, 0.0]], "head.0.bias": [0.0]}
    head = {"kind": "mlp", "widths": [2, 1], "activation": "relu"}
    model = Model.from_manifest({"task": "regression", "input_shape": [2], "head": head}, weights)
    options = {**OPTIONS, "method": method, "tune": "auto" if method == "auto" else "score"}
    return fit(model, *data(800, 0, unit, center), **options)


def growth(predictor: Predictor, unit: float, center: float = 0.0) -> float:
    """How much wider the intervals are where there is much noise."""
    x, _ = data(2000, 1, unit, center)
    sizes, column = predictor.predict_set(x, member=0).size, x[:, 1]
    return float(sizes[column > np.median(column)].mean() / sizes[column <= np.median(column)].mean())


def test_inputs_of_the_usual_size_are_taken_as_they_are() -> None:
    predictor = fitted(1.0)
    assert predictor.scorer.scale is not None
    assert predictor.scorer.scale.units is None
    assert "scale_units" not in predictor.stored.description()["scoring"]
    assert growth(predictor, 1.0) > 1.3


@pytest.mark.parametrize(("unit", "center"), [(2.0**-17, 0.0), (2.0**10, 0.0), (1.0, 100.0)])
def test_tiny_huge_and_distant_inputs_are_learned_from_alike(unit: float, center: float) -> None:
    predictor = fitted(unit, center)
    assert growth(predictor, unit, center) > 1.3
    x, y = data(2000, 1, unit, center)
    assert predictor.predict_set(x).contains(y).mean() > 0.88
    assert predictor.certificate.verify().holds


def test_the_method_that_chooses_learns_from_them_too() -> None:
    predictor = fitted(2.0**-17, method="auto")
    assert predictor.scorer.scale is not None
    assert predictor.scorer.scale.units is not None


def test_units_that_are_powers_of_two_apart_give_the_same_sets() -> None:
    one, other = fitted(2.0**-17), fitted(2.0**-30)
    assert (
        one.predict_set(data(100, 2, 2.0**-17)[0]).to_json() == other.predict_set(data(100, 2, 2.0**-30)[0]).to_json()
    )


def test_rows_that_calibrate_do_not_count() -> None:
    """Of rows that are shuffled by the seed only those that tune are looked at."""
    x, y = data(400, 3, 2.0**-17)
    first, order = (
        fitted(2.0**-17).scorer.model,
        torch.randperm(400, generator=torch.Generator().manual_seed(0)).numpy(),
    )
    moved = x.copy()
    moved[order[200:], 1] *= 1000
    units = [fit(first, rows, y, method="learned", tune="score", **OPTIONS).scorer.scale for rows in (x, moved)]
    assert units[0] == units[1]


def test_they_are_stored_with_the_members(tmp_path: Path) -> None:
    predictor = fitted(2.0**-17)
    predictor.save(tmp_path)
    x, _ = data(50, 2, 2.0**-17)
    assert load(tmp_path).predict_set(x).to_json() == predictor.predict_set(x).to_json()
    file = tmp_path / "predictor.json"
    content = json.loads(file.read_text())
    units = content["scoring"]["scale_units"]
    for edited in (
        None,
        {},
        {**units, "factor": units["factor"][:1]},
        {**units, "center": [0.0, 1.0]},
        {**units, "factor": [0.0, 1.0]},
    ):
        file.write_text(json.dumps({**content, "scoring": {**content["scoring"], "scale_units": edited}}))
        with pytest.raises(DamagedFileError):
            load(tmp_path)


def test_pixels_that_are_rarely_lit_are_not_blown_up() -> None:
    pixels = torch.zeros(1000, 3)
    pixels[:5, 0], pixels[:30, 1], pixels[::2, 2] = 1.0, 0.9, 1.0
    assert InputUnits.of(pixels) is None
    units = InputUnits.of(1e-4 * pixels)
    assert units is not None
    assert units.applied(1e-4 * pixels).abs().max() <= 16


def test_columns_that_do_not_vary_are_only_moved() -> None:
    columns = torch.stack([torch.full((100,), 1e6), torch.zeros(100), torch.linspace(0, 1e-6, 100)], dim=1)
    units = InputUnits.of(columns)
    assert units is not None
    moved = units.applied(columns)
    assert moved[:, :2].abs().max() == 0
    assert 0.5 < moved[:, 2].std() < 4
