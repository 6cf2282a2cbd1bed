"""A fitted predictor: its bytes, its files, and the sets it serves."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.errors import DamagedFileError, DataError
from certiset.core.fit import Predictor, fit, load
from certiset.core.models import Model
from certiset.core.models.backbones.lenet5 import lenet5
from tests.core.fit.problems import (
    QUICK,
    changed,
    class_data,
    toy_data,
    toy_model,
)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path, toy: Predictor) -> None:
    again = fit(toy_model(), *toy_data(600, 0), method="learned", **QUICK)
    other = fit(toy_model(), *toy_data(600, 0), method="learned", seed=1, **QUICK)
    toy.save(tmp_path / "one")
    again.save(tmp_path / "two")
    assert (tmp_path / "one/predictor.safetensors").read_bytes() == (
        tmp_path / "two/predictor.safetensors"
    ).read_bytes()
    assert toy.certificate.digest == again.certificate.digest != other.certificate.digest
    assert toy.certificate.id == again.certificate.id


def test_a_saved_predictor_answers_as_before_without_the_data(
    tmp_path: Path, toy: Predictor, classes: Predictor
) -> None:
    for predictor, x in ((toy, toy_data(50, 5)[0]), (classes, class_data(50, 5)[0])):
        predictor.save(tmp_path)
        loaded = load(tmp_path)
        members = loaded.draw_members(50, generator=np.random.default_rng(1))
        assert loaded.predict_set(x, members).to_json() == predictor.predict_set(x, members).to_json()
        assert loaded.certificate == predictor.certificate
        assert sorted(file.name for file in tmp_path.iterdir()) == ["predictor.json", "predictor.safetensors"]


@pytest.mark.parametrize("place", [200, -5])
def test_a_changed_byte_or_a_cut_file_is_noticed(tmp_path: Path, toy: Predictor, place: int) -> None:
    toy.save(tmp_path)
    file = tmp_path / "predictor.safetensors"
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"predictor\.safetensors"):
        load(tmp_path)
    file.write_bytes(content[:-100])
    with pytest.raises(DamagedFileError, match="is damaged"):
        load(tmp_path)
    (tmp_path / "predictor.json").write_text("{")
    with pytest.raises(DamagedFileError, match=r"predictor\.json is damaged"):
        load(tmp_path)
    with pytest.raises(DamagedFileError, match="cannot be read"):
        load(tmp_path / "nowhere")


def test_a_set_does_not_depend_on_its_batch(classes: Predictor) -> None:
    x, _y = class_data(64, 6)
    members = classes.draw_members(64, generator=np.random.default_rng(2))
    together = classes.predict_set(x, members)
    for row in range(64):
        assert classes.predict_set(x[row : row + 1], members[row : row + 1])[0] == together[row]


def test_tied_scores_stay_covered_whatever_the_batch() -> None:
    """Few distinct inputs put many points exactly at tau; rounding in another batch must not take them out."""
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(6, 200)).astype(np.float32)
    widths = [200, 64, 10]
    weights = {"head.0.weight": rng.normal(size=(64, 200)) / 14, "head.0.bias": np.zeros(64)}
    weights |= {"head.1.weight": rng.normal(size=(10, 64)), "head.1.bias": np.zeros(10)}
    manifest = {"task": "classification", "classes": 10, "input_shape": [200]}
    model = Model.from_manifest(manifest | {"head": {"kind": "mlp", "widths": widths, "activation": "tanh"}}, weights)
    for score in ("log_prob", "lac", "aps"):
        rows, labels = rng.integers(6, size=500), rng.integers(10, size=500)
        predictor = fit(model, inputs[rows], labels, method="standard", score=score)
        together = predictor.predict_set(inputs[rows], member=0)
        tau = predictor.certificate.members[0].tau
        assert together.contains(labels).mean() >= 0.9
        for row in range(6):
            alone = predictor.predict_set(inputs[row : row + 1], member=0)
            assert alone[0] == together[int(np.flatnonzero(rows == row)[0])], (score, tau)


def test_the_served_width_is_what_was_certified_even_where_floats_are_coarse() -> None:
    """At y near a million, float32 resolves a sixteenth: the widened sets are the ones that are measured."""
    rng = np.random.default_rng(0)
    model = Model.from_manifest({"task": "regression", "input_shape": [1], "head": {"kind": "identity"}})
    x = np.full((2000, 1), 1e6)
    y = x + rng.normal(size=(2000, 1))
    predictor = fit(model, x, y, method="standard", size_cap=10.0, score="residual")
    served = predictor.predict_set(x).size.mean()
    assert served == pytest.approx(predictor.certificate.efficiency.empirical, rel=1e-3)
    assert served <= predictor.certificate.efficiency.upper_bound


def test_an_empty_batch_gives_an_empty_batch(toy: Predictor, classes: Predictor) -> None:
    for predictor, width in ((toy, 1), (classes, 2)):
        sets = predictor.predict_set(np.zeros((0, width)))
        assert len(sets) == 0
        assert sets.to_json() == []


def test_inputs_that_overflow_the_precision_get_an_error_and_not_a_set(toy: Predictor) -> None:
    with pytest.raises(DataError, match="output is not finite"):
        toy.predict_set([[1e300]])
    x, y = toy_data(300, 0)
    with pytest.raises(DataError, match="y is too large for float32"):
        fit(toy_model(), x, changed(y, (0, 0), 1e39), method="standard")
    with pytest.raises(DataError, match="too large for the precision"):
        fit(toy_model(), x, np.where(x > 0, 1.5e308, -1.5e308), method="standard", score="residual")


@pytest.mark.parametrize(
    "edit",
    [
        {"scoring": {"score": {"kind": "lac"}, "tunes_head": True, "scale_inputs": None}},
        {"scoring": {"score": {"kind": "log_prob"}, "tunes_head": False, "scale_inputs": None}},
        {"scoring": {"score": {"kind": "log_prob"}, "tunes_head": True, "scale_inputs": "a"}},
        {"manifest": {"task": "classification", "classes": 3, "input_shape": [3]}},
        {"certificate": {}},
        {"format": 2},
    ],
)
def test_an_edited_description_is_noticed(tmp_path: Path, classes: Predictor, edit: dict[str, Any]) -> None:
    classes.save(tmp_path)
    file = tmp_path / "predictor.json"
    content = json.loads(file.read_text()) | edit
    file.write_text(json.dumps(content))
    with pytest.raises(DamagedFileError):
        load(tmp_path)


def test_members_can_be_given_or_drawn(toy: Predictor) -> None:
    x, _y = toy_data(200, 7)
    drawn = toy.draw_members(2000)
    assert set(drawn.tolist()) == set(range(toy.members))
    assert len(toy.predict_set(x)) == 200
    for bad, message in ((toy.members, "member must be from 0"), (-1, "from 0"), ([0, 1], "2 members"), (0.5, "whole")):
        with pytest.raises(DataError, match=message):
            toy.predict_set(x, member=bad)
    with pytest.raises(DataError, match="inputs of shape"):
        toy.predict_set(np.zeros((3, 2)))
    with pytest.raises(DataError, match="x must be finite, and row 2, column 1 is nan"):
        toy.predict_set([[0.0], [math.nan]])


def test_members_may_be_drawn_by_either_kind_of_generator(toy: Predictor) -> None:
    by_torch = toy.draw_members(50, generator=torch.Generator().manual_seed(3))
    assert np.array_equal(by_torch, toy.draw_members(50, generator=torch.Generator().manual_seed(3)))
    by_numpy = toy.draw_members(50, generator=np.random.default_rng(3))
    assert np.array_equal(by_numpy, toy.draw_members(50, generator=np.random.default_rng(3)))


def test_a_model_with_a_backbone_survives_being_saved_in_float64(tmp_path: Path) -> None:
    module = lenet5()
    rng = np.random.default_rng(0)
    weights: dict[str, Any] = {f"backbone.{name}": value for name, value in module.state_dict().items()}
    weights |= {"head.0.weight": rng.normal(size=(3, 400)), "head.0.bias": np.zeros(3)}
    manifest = {"task": "classification", "classes": 3, "input_shape": [1, 28, 28], "backbone": {"kind": "lenet5"}}
    head = {"kind": "mlp", "widths": [400, 3], "activation": "sigmoid"}
    model = Model.from_manifest(manifest | {"head": head}, weights)
    x = rng.normal(size=(200, 1, 28, 28))
    predictor = fit(model, x, rng.integers(3, size=200), method="learned", dtype="float64", **QUICK)
    predictor.save(tmp_path)
    assert load(tmp_path).predict_set(x[:5], member=0).to_json() == predictor.predict_set(x[:5], member=0).to_json()
