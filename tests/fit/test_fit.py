"""`fit` end to end: what it promises, what it refuses, and that equal inputs give equal bytes."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.bounds import TooFewPointsError, threshold, vovk_2b
from core.certificate import Certificate
from core.errors import DamagedFileError, DataError, OptionError, StoppedError
from core.fit import Predictor, fit, load
from core.fit import choices as choices_module
from core.models import Model
from core.models.backbones import lenet5
from core.posterior.optimizing import Result
from core.posterior.projected import minimise_projected
from tests.fit.problems import (
    QUICK,
    STEPS_PAY,
    class_data,
    class_model,
    shifted_logits,
    shifted_logits_model,
    toy_data,
    toy_model,
)


@pytest.fixture(scope="module")
def toy() -> Predictor:
    return fit(toy_model(), *toy_data(600, 0), **QUICK)


@pytest.fixture(scope="module")
def classes() -> Predictor:
    return fit(class_model(), *class_data(600, 0), **QUICK)


SETTINGS: list[dict[str, Any]] = [
    {"method": "standard"},
    {"method": "standard", "bound": "vovk_2a"},
    {"method": "learned"},
    {"method": "learned", "bound": "vovk_2a", "prior": {"objective": "size", "steps": 60}},
    {},
    {"guarantee": "posterior"},
    {"guarantee": "posterior", "bound": "seeger"},
    {"prior": {"train": "none"}},
    {"prior": {"train": "mean", "objective": "mix", "steps": 60}},
    {"optimizer": {"kind": "augmented_lagrangian", "outer": 2, "steps": 20, "quantile": "neural_sort"}},
    {"alpha_hat": 0.03},
    {"dtype": "float64"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=json.dumps)
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_every_method_covers_and_carries_a_certificate_that_verifies(task: str, settings: dict[str, Any]) -> None:
    model, make = (toy_model(), toy_data) if task == "regression" else (class_model(), class_data)
    predictor = fit(model, *make(600, 1), **(QUICK | settings))
    check = predictor.certificate.verify()
    assert check.valid, [entry for entry in check.checks if not entry.ok]
    x, y = make(4000, 2)
    sets = predictor.predict_set(x, generator=np.random.default_rng(0))
    assert len(sets) == 4000
    # 600 points promise 90 % with probability 95 %; three standard errors of the test set are allowed for.
    assert sets.contains(y).mean() >= 0.9 - 3 * math.sqrt(0.09 / 4000)
    assert Certificate.from_json(json.dumps(predictor.certificate.to_json())) == predictor.certificate


@pytest.mark.parametrize("score", ["log_prob", "lac", "aps", "raps"])
def test_every_classification_score_can_be_fitted(score: str) -> None:
    predictor = fit(class_model(), *class_data(300, 1), score=score, **QUICK)
    x, y = class_data(2000, 2)
    assert predictor.predict_set(x).contains(y).mean() > 0.87


@pytest.mark.parametrize(
    ("score", "outputs", "targets"), [("cqr", 2, 1), ("ball", 2, 2), ("box", 2, 2), ("scaled_ball", 2, 2)]
)
def test_every_regression_score_can_be_fitted_on_outputs_computed_elsewhere(
    score: str, outputs: int, targets: int
) -> None:
    def data(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        y = rng.normal(size=(rows, targets))
        if score == "cqr":
            return np.sort(y + rng.normal(size=(rows, 2)), axis=1), y
        return y + 0.3 * rng.normal(size=(rows, outputs)), y

    model = Model.from_manifest({"task": "regression", "input_shape": [outputs], "head": {"kind": "identity"}})
    predictor = fit(model, *data(400, 1), score=score, **QUICK)
    assert predictor.certificate.verify().valid
    x, y = data(3000, 2)
    assert predictor.predict_set(x).contains(y).mean() > 0.87


@pytest.mark.parametrize(
    "settings",
    [
        {"tune": "both"},
        {"tune": "score"},
        {"tune": "head", "score": "residual"},
        {"optimizer": {"steps": 20, "measure": "log_radius"}},
        {"optimizer": {"steps": 20, "measure": "log_radius", "kind": "augmented_lagrangian", "outer": 2}},
    ],
    ids=json.dumps,
)
def test_what_is_tuned_and_for_what_can_be_chosen(settings: dict[str, Any]) -> None:
    predictor = fit(toy_model(), *toy_data(600, 1), **(QUICK | settings))
    assert predictor.certificate.verify().valid
    x, y = toy_data(4000, 2)
    assert predictor.predict_set(x).contains(y).mean() >= 0.9 - 3 * math.sqrt(0.09 / 4000)


def test_standard_is_vovk_2b_on_the_models_own_scores() -> None:
    model, (x, y) = toy_model(), toy_data(500, 3)
    predictor = fit(model, x, y, method="standard", dtype="float64")
    features = model.features(x, torch.device("cpu"), torch.float64)
    outputs = model.head.forward(model.head_parameters.double().unsqueeze(0), features)[0, :, 0]
    scores = (outputs - torch.from_numpy(y[:, 0]).double()).abs().numpy()
    rank = vovk_2b(500, 0.1, 0.05)
    assert predictor.certificate.coverage.k == rank
    exact = threshold(scores, rank)
    assert exact <= predictor.certificate.members[0].tau <= exact * (1 + 1e-13)
    assert predictor.certificate.provenance.n_tune == 0


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path, toy: Predictor) -> None:
    again = fit(toy_model(), *toy_data(600, 0), **QUICK)
    other = fit(toy_model(), *toy_data(600, 0), seed=1, **QUICK)
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
        fit(toy_model(), x, np.where(x > 0, 3e38, -3e38), method="standard", score="residual")


def test_the_prior_knows_nothing_of_the_calibration_targets() -> None:
    """Other targets on D_N leave what was tuned on D_0 as it was, to the last byte."""
    x, y = class_data(600, 0)
    order = torch.randperm(600, generator=torch.Generator().manual_seed(0)).numpy()
    other = y.copy()
    other[order[300:]] = np.random.default_rng(1).permutation(other[order[300:]])
    assert (other != y).any()
    one, two = (fit(class_model(), x, labels, method="learned", **QUICK) for labels in (y, other))
    assert one.certificate.coverage.union.taken == two.certificate.coverage.union.taken
    assert torch.equal(one.theta, two.theta)
    tuned_otherwise = y.copy()
    tuned_otherwise[order[:300]] = np.random.default_rng(1).permutation(tuned_otherwise[order[:300]])
    assert not torch.equal(one.theta, fit(class_model(), x, tuned_otherwise, method="learned", **QUICK).theta)


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
    with pytest.raises(DataError, match="x must be finite, and row 1, column 0 is nan"):
        toy.predict_set([[0.0], [math.nan]])


def test_progress_goes_through_its_phases_and_ends_at_one() -> None:
    seen: list[dict[str, Any]] = []
    fit(toy_model(), *toy_data(1500, 0), progress=seen.append, **(QUICK | {"optimizer": {"steps": 60}}))
    phases = [entry["phase"] for entry in seen]
    assert list(dict.fromkeys(phases)) == ["prepare", "tune", "fit", "calibrate"]
    fractions = [entry["fraction"] for entry in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    spent = next(entry["metrics"] for entry in seen if entry["phase"] == "fit")
    assert spent["kl"] <= spent["budget"] * 1.01


def test_a_fit_that_is_asked_to_stop_stops() -> None:
    with pytest.raises(StoppedError):
        fit(toy_model(), *toy_data(600, 0), should_stop=lambda: True, **QUICK)


def test_a_diverging_posterior_step_falls_back_to_the_prior_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(prior: Any, budgets: list[float], loss: Any, **options: Any) -> Result:
        return minimise(prior, budgets, lambda theta: loss(theta) * math.nan, **options)

    minimise = minimise_projected
    monkeypatch.setattr(choices_module, "minimise_projected", explode)
    predictor = fit(toy_model(), *toy_data(1500, 0), **QUICK)
    assert predictor.certificate.coverage.bound == "vovk_2b"
    assert any("diverged" in message for message in predictor.certificate.provenance.messages)
    assert predictor.certificate.verify().valid


def test_a_posterior_step_is_taken_where_it_pays_and_every_member_is_certified() -> None:
    """Logits with a wrong shift a class, six parameters to mend them, and no tuning data: nats are worth spending."""
    predictor = fit(shifted_logits_model(), *shifted_logits(3000, 8), **STEPS_PAY)
    coverage = predictor.certificate.coverage
    assert coverage.bound == "per_draw"
    assert coverage.kl > 0
    assert predictor.members > 1
    assert predictor.certificate.verify().valid
    tests = shifted_logits(4000, 9)
    for member in range(predictor.members):
        assert predictor.predict_set(tests[0], member=member).contains(tests[1]).mean() > 0.885


def test_the_statement_says_over_which_randomness() -> None:
    for settings, words in (
        ({"method": "learned"}, "over the drawing of the 300 calibration points"),
        ({"guarantee": "posterior"}, "90 %"),
    ):
        certificate = fit(toy_model(), *toy_data(600, 0), **(QUICK | settings)).certificate
        assert words in certificate.statement
        assert "95 %" in certificate.statement
        assert any("independently" in assumption for assumption in certificate.assumptions)


def test_a_size_without_a_cap_is_not_certified_and_says_so() -> None:
    certificate = fit(toy_model(), *toy_data(300, 0), method="standard").certificate
    assert certificate.efficiency.bound is None
    assert certificate.efficiency.upper_bound is None
    assert certificate.verify().valid
    capped = fit(toy_model(), *toy_data(300, 0), method="standard", size_cap=3.0).certificate
    assert capped.efficiency.bound == "monotone"
    assert capped.efficiency.empirical < capped.efficiency.upper_bound <= 3.0  # type: ignore[operator]


def changed(array: np.ndarray, place: Any, value: float) -> np.ndarray:
    answer = array.astype(np.float64)
    answer[place] = value
    return answer


X, Y = toy_data(400, 0)
CX, CY = class_data(400, 0)


@pytest.mark.parametrize(
    ("model", "x", "y", "options", "error", "message"),
    [
        (toy_model, changed(X, (7, 0), math.nan), Y, {}, DataError, "x must be finite, and row 7, column 0 is nan"),
        (toy_model, X, changed(Y, (9, 0), math.inf), {}, DataError, "y must be finite, and row 9, column 0 is inf"),
        (toy_model, X, np.zeros(400), {}, DataError, "every y is the same"),
        (class_model, CX, np.zeros(400, int), {}, DataError, "every label is 0"),
        (class_model, CX, CY % 2, {}, DataError, "no row has label 2"),
        (class_model, CX, CY + 1, {}, DataError, "labels must be from 0 to 2, the model's classes, and 3 is not"),
        (class_model, CX, CY + 0.5, {}, DataError, "labels must be whole numbers"),
        (class_model, CX[:, :1], CY, {}, DataError, r"inputs of shape \(2,\), but x has rows of shape \(1,\)"),
        (class_model, CX, CY[:-1], {}, DataError, "x has 400 rows and y has 399"),
        (class_model, np.array([["a"]]), CY, {}, DataError, "x must be an array of numbers"),
        (toy_model, X[:40], Y[:40], {}, TooFewPointsError, "40 rows leave n = 20 for calibration, too few"),
        (toy_model, X, Y, {"alpha": 0.001}, TooFewPointsError, "at least 3688 are needed"),
        (toy_model, X, Y, {"score": "log_prob"}, OptionError, "score log_prob is for classification"),
        (toy_model, X, Y, {"score": "cqr"}, OptionError, "two outputs"),
        (toy_model, X, Y, {"method": "magic"}, OptionError, "method must be one of standard, learned, pac_bayes"),
        (toy_model, X, Y, {"members": 0}, OptionError, "members must be a whole number from 1"),
        (toy_model, X, Y, {"colour": 1}, OptionError, "the fit has no option 'colour'"),
        (toy_model, X, Y, {"alpha": 2}, ValueError, "alpha must lie strictly between 0 and 1"),
        (toy_model, X, Y, {"alpha_hat": 0.2}, OptionError, "alpha_hat must not exceed alpha"),
        (toy_model, X, Y, {"prior": {"split": 1.0}}, OptionError, "prior.split must be at least 0 and below 1"),
        (toy_model, X, Y, {"prior": {"steps": -1}}, OptionError, "prior.steps must be a whole number"),
        (toy_model, X, Y, {"optimizer": {"kind": "sgd"}}, OptionError, "optimizer.kind must be one of projected"),
        (toy_model, X, Y, {"device": "abacus"}, OptionError, "device 'abacus' is not there"),
        (toy_model, X, Y, {"tune": "head"}, OptionError, "has a scale to learn"),
        (class_model, CX, CY, {"tune": "score"}, OptionError, "has no parameters of its own"),
        (toy_model, X, Y, {"alpha": 0.1, "confidence_level": 0.9}, OptionError, "give one of the two"),
    ],
)
def test_bad_input_is_refused_before_any_work(
    model: Any, x: Any, y: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    reports: list[Any] = []
    with pytest.raises(error, match=message) as caught:
        fit(model(), x, y, progress=reports.append, **options)
    assert isinstance(caught.value, ValueError)
    assert len([entry for entry in reports if entry["phase"] != "prepare"]) == 0


def test_objectives_have_names_of_their_own() -> None:
    named = fit(class_model(), CX, CY, method="learned", prior={"objective": "cross_entropy", "steps": 20})
    proper = fit(class_model(), CX, CY, method="learned", prior={"objective": "proper", "steps": 20})
    assert named.certificate.digest == proper.certificate.digest
    with pytest.raises(OptionError, match="laplace does not go with classification"):
        fit(class_model(), CX, CY, prior={"objective": "laplace"})


def test_members_may_be_drawn_by_either_kind_of_generator(toy: Predictor) -> None:
    by_torch = toy.draw_members(50, generator=torch.Generator().manual_seed(3))
    assert np.array_equal(by_torch, toy.draw_members(50, generator=torch.Generator().manual_seed(3)))
    by_numpy = toy.draw_members(50, generator=np.random.default_rng(3))
    assert np.array_equal(by_numpy, toy.draw_members(50, generator=np.random.default_rng(3)))


def test_levels_without_nats_to_spend_are_not_paid_for() -> None:
    union = fit(toy_model(), *toy_data(200, 0), **QUICK).certificate.coverage.union
    assert math.fsum(union.weights) == pytest.approx(1.0)
    assert not any("0.08" in choice for choice in union.choices)


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": [0.1, 0.2]},
        {"alpha_hat": []},
        {"size_cap": "a"},
        {"prior": {"split": None}},
        {"prior": 5},
        {"device": None},
        {"device": "meta"},
        {"score": 5},
        {"score": {"kind": []}},
        {"seed": -1},
        {"gamma": "small"},
    ],
    ids=str,
)
def test_odd_options_are_refused_in_a_sentence(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must|not there"):
        fit(toy_model(), X, Y, **options)


@pytest.mark.parametrize(
    "x",
    [X[:, 0], X.astype(np.float16), X.astype(np.longdouble), X.astype(">f4"), X[::-1], torch.from_numpy(X).bfloat16()],
    ids=["vector", "half", "long double", "big-endian", "reversed", "bfloat16"],
)
def test_inputs_of_any_float_kind_are_taken(x: Any) -> None:
    assert fit(toy_model(), x, Y, method="standard").certificate.verify().valid


def test_weights_may_be_parameters_of_a_module() -> None:
    layer = torch.nn.Linear(2, 3)
    manifest = {"task": "classification", "classes": 3, "input_shape": [2]}
    model = Model.from_manifest(
        manifest | {"head": {"kind": "mlp", "widths": [2, 3], "activation": "relu"}},
        {"head.0.weight": layer.weight, "head.0.bias": layer.bias},
    )
    assert fit(model, CX, CY, **QUICK).certificate.verify().valid


def test_a_model_with_a_backbone_survives_being_saved_in_float64(tmp_path: Path) -> None:
    module = lenet5()
    rng = np.random.default_rng(0)
    weights: dict[str, Any] = {f"backbone.{name}": value for name, value in module.state_dict().items()}
    weights |= {"head.0.weight": rng.normal(size=(3, 400)), "head.0.bias": np.zeros(3)}
    manifest = {"task": "classification", "classes": 3, "input_shape": [1, 28, 28], "backbone": {"kind": "lenet5"}}
    head = {"kind": "mlp", "widths": [400, 3], "activation": "sigmoid"}
    model = Model.from_manifest(manifest | {"head": head}, weights)
    x = rng.normal(size=(200, 1, 28, 28))
    predictor = fit(model, x, rng.integers(3, size=200), dtype="float64", **QUICK)
    predictor.save(tmp_path)
    assert load(tmp_path).predict_set(x[:5], member=0).to_json() == predictor.predict_set(x[:5], member=0).to_json()


def test_missing_classes_can_be_meant() -> None:
    predictor = fit(class_model(), CX, CY % 2, allow_missing_classes=True, method="standard")
    assert predictor.certificate.verify().valid


def test_confidence_level_is_another_word() -> None:
    assert fit(toy_model(), X, Y, confidence_level=0.8, method="standard").certificate.coverage.alpha == 0.2


def test_the_backbone_runs_once_over_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    model = class_model()
    rows = 0
    inner = type(model.backbone).features

    def counting(self: Any, x: torch.Tensor) -> torch.Tensor:
        nonlocal rows
        rows += len(x)
        return inner(self, x)

    monkeypatch.setattr(type(model.backbone), "features", counting)
    fit(model, CX, CY, **QUICK)
    assert rows == len(CX)
