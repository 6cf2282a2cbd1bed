"""A predictor is held against made-up inputs whenever it is loaded: other numbers, and it is not served."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.certificate import Certificate
from certiset.core.errors import DamagedFileError, OtherArithmeticError
from certiset.core.fit import Predictor, fit, load
from certiset.core.fit.canaries import check_canaries
from certiset.core.models import Model
from tests.core.fit.problems import QUICK, STEPS_PAY, class_data, shifted_logits, shifted_logits_model, toy_data


@pytest.fixture(scope="module")
def pool() -> Predictor:
    """Of several members, whose heads differ."""
    return fit(shifted_logits_model(), *shifted_logits(1500, 0), **STEPS_PAY)


def changed_weights(predictor: Predictor, relative: float) -> Predictor:
    noise = torch.randn(predictor.theta.shape, generator=torch.Generator().manual_seed(0))
    model = predictor.scorer.model
    given = model.head_parameters * (1 + relative * noise[0, : len(model.head_parameters)].sign())
    scorer = replace(predictor.scorer, model=replace(model, head_parameters=given))
    return replace(predictor, theta=predictor.theta * (1 + relative * noise.sign()), scorer=scorer)


def test_canaries_are_signed_few_and_no_rows(toy: Predictor, classes: Predictor, pool: Predictor) -> None:
    fits = [(toy, toy_data(600, 0)), (classes, class_data(600, 0)), (pool, shifted_logits(1500, 0))]
    for predictor, (x, _y) in fits:
        canaries = predictor.certificate.canaries
        assert canaries is not None
        assert len(json.dumps(predictor.certificate.to_json()["canaries"])) < 10_000
        assert len(canaries.low) == x.shape[1]
        assert not set(canaries.low + canaries.high) & set(x.astype(np.float64).ravel().tolist())
        assert np.all(np.array(canaries.low) > x.min(axis=0) - 0.1)
        assert np.all(np.array(canaries.high) < x.max(axis=0) + 0.1)
        assert predictor.certificate.verify().valid
        assert Certificate.from_json(predictor.certificate.to_json()) == predictor.certificate


@pytest.mark.parametrize("relative", [1e-3, -1e-3, 0.1])
def test_other_weights_are_noticed(toy: Predictor, classes: Predictor, pool: Predictor, relative: float) -> None:
    for predictor in (toy, classes, pool):
        assert check_canaries(predictor) is predictor
        with pytest.raises(OtherArithmeticError, match="computes other numbers than those that were certified"):
            check_canaries(changed_weights(predictor, relative))


def test_coarser_products_are_noticed(classes: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    """What TF32 or bfloat16 in the place of float32 would do."""
    inner = torch.addmm

    def coarse(value: torch.Tensor) -> torch.Tensor:
        return value.bfloat16().float()

    def rounded(bias: Any, first: Any, second: Any) -> Any:
        return inner(bias, coarse(first), coarse(second))

    monkeypatch.setattr(torch, "addmm", rounded)
    monkeypatch.setattr(torch, "baddbmm", lambda b, f, s: torch.bmm(coarse(f), coarse(s)) + b)
    with pytest.raises(OtherArithmeticError):
        check_canaries(classes)


def test_sums_in_another_order_are_let_pass() -> None:
    rng = np.random.default_rng(0)
    widths, order = [20, 400, 5], rng.permutation(400)
    weights = {"head.0.weight": rng.normal(size=(400, 20)), "head.0.bias": rng.normal(size=400)}
    weights |= {"head.1.weight": rng.normal(size=(5, 400)), "head.1.bias": np.zeros(5)}
    manifest = {"task": "classification", "classes": 5, "input_shape": [20]}
    manifest |= {"head": {"kind": "mlp", "widths": widths, "activation": "tanh"}}
    model = Model.from_manifest(manifest, weights)
    weights["head.0.weight"], weights["head.0.bias"] = weights["head.0.weight"][order], weights["head.0.bias"][order]
    weights["head.1.weight"] = weights["head.1.weight"][:, order]
    x = rng.normal(size=(200, 20))
    predictor = fit(model, x, rng.integers(5, size=200), method="standard")
    other = replace(predictor, scorer=replace(predictor.scorer, model=Model.from_manifest(manifest, weights)))
    assert check_canaries(other) is other
    models = [p.scorer.model for p in (predictor, other)]
    first, second = (m.given_outputs(m.features(x, other.device, torch.float32)) for m in models)
    assert not torch.equal(first, second)


def test_a_saved_predictor_whose_canaries_say_otherwise_is_not_loaded(tmp_path: Path, toy: Predictor) -> None:
    canaries = toy.certificate.canaries
    assert canaries is not None
    outputs = [[[value + 0.01 for value in row] for row in rows] for rows in canaries.outputs]
    other = replace(toy.certificate, canaries=replace(canaries, outputs=outputs))
    replace(toy, certificate=replace(other, id=other.digest_id)).save(tmp_path)
    with pytest.raises(OtherArithmeticError, match="it is not served") as caught:
        load(tmp_path)
    assert caught.value.code == "other_arithmetic"


def test_a_predictor_without_canaries_loads_as_before(tmp_path: Path, toy: Predictor) -> None:
    without = replace(toy.certificate, canaries=None)
    assert "canaries" not in without.to_json()
    replace(toy, certificate=replace(without, id=without.digest_id)).save(tmp_path)
    assert load(tmp_path).predict_set([[0.5]]).to_json() == toy.predict_set([[0.5]]).to_json()


@pytest.mark.parametrize(
    "edit", [{"low": [0.0, 0.0]}, {"columns": [7]}, {"members": [99]}, {"outputs": [[]]}, {"seed": -1}], ids=str
)
def test_canaries_that_make_no_sense_are_refused(toy: Predictor, edit: dict[str, Any]) -> None:
    canaries = toy.certificate.canaries
    assert canaries is not None
    changed = replace(toy.certificate, canaries=replace(canaries, **edit))
    with pytest.raises(DamagedFileError, match="canaries do not fit"):
        check_canaries(replace(toy, certificate=changed))


def test_columns_of_whole_numbers_have_whole_canaries() -> None:
    rng = np.random.default_rng(0)
    x = np.stack([rng.integers(10, size=400), rng.normal(size=400)], axis=1)
    y = rng.integers(2, size=400)
    model = Model.from_manifest({"task": "classification", "classes": 2, "input_shape": [2]})
    canaries = fit(model, x, y, method="standard").certificate.canaries
    assert canaries is not None
    assert canaries.whole == [True, False]
    assert all(float(row[0]).is_integer() for row in canaries.outputs[0])


def test_a_tiny_fit_has_canaries_too() -> None:
    predictor = fit(shifted_logits_model(), *shifted_logits(60, 0), alpha=0.3, method="learned", **QUICK)
    assert check_canaries(predictor) is predictor
