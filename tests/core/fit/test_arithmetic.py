"""Floats do not break the promise: tiny and huge targets, sums in another order, and a last look before it is given."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from certiset.core.errors import DataError, UncoveredError
from certiset.core.fit import Predictor, fit
from certiset.core.fit.precision import full_precision
from certiset.core.models import Model
from certiset.core.scores import SCORES as SCORES_BY_NAME
from certiset.core.scores import ModelOutputs, make_score
from certiset.core.sets import Balls, Intervals
from tests.core.fit.problems import QUICK, class_data, class_model, toy_data, toy_model

SCORES = {"residual": (1, 1), "ball": (2, 2), "box": (2, 2), "cqr": (2, 1), "scaled_residual": (1, 1)}
"""outputs and targets"""
LEARNED: dict[str, Any] = {"method": "learned", "prior": {"steps": 20}}


def noisy(score: str, magnitude: float, rows: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Predictions and truths that differ by noise, both of that magnitude."""
    outputs, targets = SCORES[score]
    rng = np.random.default_rng(seed)
    predictions = np.sort(rng.normal(size=(rows, outputs)), axis=1)
    return magnitude * predictions, magnitude * (predictions[:, :targets] + rng.normal(size=(rows, targets)))


def as_given(outputs: int) -> Model:
    return Model.from_manifest({"task": "regression", "input_shape": [outputs]})


def head(weights: dict[str, Any], widths: list[int], task: dict[str, Any]) -> Model:
    manifest = {"input_shape": [widths[0]], "head": {"kind": "mlp", "widths": widths, "activation": "relu"}}
    return Model.from_manifest(manifest | task, weights)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("magnitude", [1e-23, 1e-46, 1e-140, 1e30])
def test_targets_of_any_size_are_covered(score: str, magnitude: float) -> None:
    options = LEARNED if score == "scaled_residual" else {"method": "standard"}
    x, y = noisy(score, magnitude, 1000)
    predictor = fit(as_given(SCORES[score][0]), x, y, score=score, **options)
    assert predictor.certificate.verify().valid
    later, truths = noisy(score, magnitude, 2000, seed=1)
    sets = predictor.predict_set(later)
    assert 0.88 <= sets.contains(truths).mean() <= 0.96
    assert predictor.certificate.efficiency.empirical == pytest.approx(sets.size.mean(), rel=0.1)


@pytest.mark.parametrize("power", [-300, -150, -77, 30, 126, 500])
@pytest.mark.parametrize("method", ["standard", "learned"])
def test_targets_times_a_power_of_two_give_sets_times_it_to_the_last_bit(power: int, method: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 1)), rng.normal(size=(500, 1))
    model = head({"head.0.weight": [[0.0]], "head.0.bias": [0.0]}, [1, 1], {"task": "regression"})
    options = LEARNED if method == "learned" else {"method": "standard"}
    plain = fit(model, x, y, **options)
    scaled = fit(model, x, np.ldexp(y, power), **options)
    ends = plain.predict_set(x, member=0).columns(), scaled.predict_set(x, member=0).columns()
    for name in ("lower", "upper"):
        assert np.array_equal(np.ldexp(ends[0][name], power), ends[1][name])
    assert scaled.certificate.members[0].tau == math.ldexp(plain.certificate.members[0].tau, power)
    sizes = [p.certificate.efficiency for p in (plain, scaled)]
    for field in ("empirical", "upper_bound", "cap"):
        first, second = (getattr(size, field) for size in sizes)
        assert second == (None if first is None else pytest.approx(math.ldexp(first, power), rel=1e-12))


@pytest.mark.parametrize("power", [-90, 60])
def test_a_whole_model_times_a_power_of_two_gives_sets_times_it(power: int) -> None:
    """Outputs and targets alike, with a hidden layer before them."""
    rng = np.random.default_rng(1)
    weights = {"head.0.weight": rng.normal(size=(8, 1)), "head.0.bias": rng.normal(size=8)}
    weights |= {"head.1.weight": rng.normal(size=(1, 8)), "head.1.bias": np.zeros(1)}
    x = rng.normal(size=(400, 1))
    y = rng.normal(size=(400, 1))
    found = []
    for exponent in (0, power):
        last = {name: np.ldexp(weights[name].astype(np.float32), exponent) for name in ("head.1.weight", "head.1.bias")}
        model = head(weights | last, [1, 8, 1], {"task": "regression"})
        found.append(fit(model, x, np.ldexp(y, exponent), **LEARNED).predict_set(x, member=0))
    assert np.array_equal(np.ldexp(found[0].columns()["lower"], power), found[1].columns()["lower"])


def test_a_predictor_in_another_unit_is_read_back_as_it_was(tmp_path: Any) -> None:
    from certiset.core.fit import load  # noqa: PLC0415

    x, y = noisy("ball", 1e-23, 400)
    predictor = fit(as_given(2), x, y, score="ball", method="standard")
    assert predictor.scorer.exponent < -70
    predictor.save(tmp_path)
    assert load(tmp_path).predict_set(x).to_json() == predictor.predict_set(x).to_json()


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        (0.0, 1e-300, "y is too small"),
        (1e-39, 1e-39, "outputs are too small for float32"),
    ],
)
def test_numbers_without_digits_are_refused(x: float, y: float, sentence: str) -> None:
    noise = np.random.default_rng(0).normal(size=(400, 1))
    with pytest.raises(DataError, match=sentence):
        fit(as_given(1), x * (1 + noise**2), y * noise, method="standard", score="residual")


def test_membership_of_balls_neither_under_nor_overflows() -> None:
    for size in (1e-300, 1e-170, 1.0, 1e170, 1e300):
        balls = Balls(np.zeros((2, 2)), np.array([size, size]))
        assert balls.contains(np.array([[0.6 * size, 0.6 * size], [0.8 * size, 0.8 * size]])).tolist() == [True, False]
    intervals = Intervals(np.zeros(1), np.full(1, 1e-50))
    assert intervals.contains(np.array([2e-50])).tolist() == [False]


def test_a_model_without_any_error_still_covers_in_other_arithmetic() -> None:
    """All scores are 0, and so would the threshold be."""
    rng = np.random.default_rng(0)
    weights = {"head.0.weight": rng.normal(size=(300, 4)), "head.0.bias": rng.normal(size=300)}
    weights |= {"head.1.weight": rng.normal(size=(1, 300)) / 17, "head.1.bias": np.zeros(1)}
    model = head(weights, [4, 300, 1], {"task": "regression"})
    x = rng.normal(size=(500, 4)).astype(np.float32)
    y = model.given_outputs(model.features(x, torch.device("cpu"), torch.float32)).numpy()
    predictor = fit(model, x, y, method="standard", score="residual")
    assert permuted(predictor, 300).predict_set(x).contains(y).all()


def permuted(predictor: Predictor, hidden: int, seed: int = 5) -> Predictor:
    """The same function with its hidden units summed in another order, as another BLAS or device does."""
    model = predictor.scorer.model
    weights = {name: tensor.numpy() for name, tensor in model.tensors().items()}
    order = np.random.default_rng(seed).permutation(hidden)
    weights["head.0.weight"], weights["head.0.bias"] = weights["head.0.weight"][order], weights["head.0.bias"][order]
    weights["head.1.weight"] = weights["head.1.weight"][:, order]
    other = Model.from_manifest(model.manifest, weights)
    return replace(predictor, scorer=replace(predictor.scorer, model=other))


@pytest.mark.parametrize("score", ["log_prob", "lac", "residual"])
def test_tied_scores_stay_covered_when_sums_are_taken_in_another_order(score: str) -> None:
    """Hidden units of thousands that cancel: the scores of equal inputs tie, and all would fall out together."""
    rng = np.random.default_rng(3)
    task: dict[str, Any] = {"task": "regression"}
    outputs = 1
    if score != "residual":
        task, outputs = {"task": "classification", "classes": 3}, 3
    half = rng.normal(size=(128, 4)) * 300
    last = rng.normal(size=(outputs, 128))
    weights = {
        "head.0.weight": np.concatenate([half, half]),
        "head.0.bias": np.concatenate([np.full(128, 2000.0), np.full(128, 2000.0)]),
        "head.1.weight": np.concatenate([last, -last + 1e-5 * rng.normal(size=last.shape)], axis=1),
        "head.1.bias": np.zeros(outputs),
    }
    model = head(weights, [4, 256, outputs], task)
    points = rng.normal(size=(3, 4)).astype(np.float32)
    x = points[rng.integers(3, size=1500)]
    logits = model.given_outputs(model.features(x, torch.device("cpu"), torch.float32)).numpy()
    if score == "residual":
        y = logits + rng.choice([-1.0, 1.0], size=logits.shape)
    else:
        y = np.argmax(logits + rng.gumbel(size=logits.shape) * 0.01, axis=1)
    options: dict[str, Any] = {"method": "standard", "score": score, "allow_missing_classes": True}
    predictor = fit(model, x, y, **options)
    assert predictor.predict_set(x).contains(y).mean() >= 0.9
    for seed in range(8):
        assert permuted(predictor, 256, seed).predict_set(x).contains(y).mean() >= 0.9


def test_without_enough_truths_in_the_served_sets_there_is_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault on the path that serves, of whatever kind: here the sets are narrower than their thresholds."""
    inner = Predictor.sets_from

    def narrow(self: Predictor, *arguments: Any) -> Any:
        sets: Any = inner(self, *arguments)
        return Intervals(sets.lower + 0.2, sets.upper)

    monkeypatch.setattr(Predictor, "sets_from", narrow)
    with pytest.raises(UncoveredError, match=r"There is no certificate: .* of the 300 calibration truths, and \d+ are"):
        fit(toy_model(), *toy_data(600, 0), method="learned", **QUICK)


def test_every_member_covers_its_calibration_rows_as_served() -> None:
    x, y = toy_data(600, 0)
    predictor = fit(toy_model(), x, y, method="pac_bayes", **QUICK)
    order = torch.randperm(600, generator=torch.Generator().manual_seed(0)).numpy()[300:]
    for member in predictor.certificate.members:
        inside = predictor.predict_set(x[order], member=member.member).contains(y[order])
        assert inside.sum() >= 300 + 1 - member.k


def test_scores_are_computed_in_full_precision_and_settings_are_left_as_they_were() -> None:
    settings = [torch.backends.cuda.matmul, torch.backends.cudnn.conv, torch.backends.mkldnn.matmul]  # type: ignore[attr-defined]
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with full_precision(torch.device("cpu")):
            assert [setting.fp32_precision for setting in settings] == ["ieee"] * 3
            with full_precision(torch.device("cuda")):
                pass
            assert [setting.fp32_precision for setting in settings] == ["ieee"] * 3
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    with full_precision(torch.device("cuda")):
        assert settings[1].fp32_precision == "ieee"


def test_a_fit_in_float64_has_slack_of_float64() -> None:
    x, y = class_data(600, 0)
    both = [fit(class_model(), x, y, method="standard", dtype=dtype).certificate for dtype in ("float32", "float64")]
    assert 0 < both[0].members[0].tau - both[1].members[0].tau < 1e-3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [kind for kind in SCORES_BY_NAME if SCORES_BY_NAME[kind].keeps_rows_apart])
def test_a_score_that_keeps_rows_apart_does_so_to_the_last_bit(kind: str, dtype: torch.dtype) -> None:
    """Their rows are not filled up to whole grains."""
    score = make_score(kind)
    generator = torch.Generator().manual_seed(0)
    for outputs in (2,) if kind == "cqr" else (2, 3, 7, 8, 10, 17, 33, 100, 257):
        for rows in (2, 3, 8, 15, 17, 100):
            given = 4 * torch.randn(1, rows, outputs, dtype=dtype, generator=generator)
            tau = torch.tensor([0.7], dtype=dtype)
            targets = given[0, :, 0] if score.sets is Intervals else given[0]
            truth = torch.zeros(rows, dtype=torch.int64) if score.task == "classification" else targets.roll(1)
            together = score.of_target(ModelOutputs(given, None), truth)
            sets = score.level_set(ModelOutputs(given, None), tau)[0]
            for row in (0, rows // 2, rows - 1):
                one = ModelOutputs(given[:, row : row + 1].clone(), None)
                assert torch.equal(score.of_target(one, truth[row : row + 1]), together[:, row : row + 1])
                assert score.level_set(one, tau)[0].to_json() == sets.take(slice(row, row + 1)).to_json()


def test_rows_are_filled_up_where_they_are_multiplied_and_nowhere_else() -> None:
    x, y = class_data(600, 0)
    for method in ("standard", "learned"):
        assert len(fit(class_model(), x, y, method=method, **QUICK).seen(x[:3]).features) == 16
    given = Model.from_manifest({"task": "classification", "classes": 3, "input_shape": [3]})
    logits = np.random.default_rng(0).normal(size=(200, 3))
    predictor = fit(given, logits, logits.argmax(1), method="standard")
    assert len(predictor.seen(logits[:1]).features) == 1
    together = predictor.predict_set(logits).to_json()
    assert [predictor.predict_set(logits[row : row + 1]).to_json()[0] for row in range(200)] == together
