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


def test_standard_is_vovk_2b_on_the_models_own_scores() -> None:
    model, (x, y) = toy_model(), toy_data(500, 3)
    predictor = fit(model, x, y, method="standard", dtype="float64")
    features = model.features(x, torch.device("cpu"), torch.float64)
    outputs = model.head.forward(model.head_parameters.double().unsqueeze(0), features)[0, :, 0]
    scores = (outputs - torch.from_numpy(y[:, 0]).double()).abs().numpy()
    rank = vovk_2b(500, 0.1, 0.05)
    assert predictor.certificate.coverage.k == rank
    assert predictor.certificate.members[0].tau == threshold(scores, rank)
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


TAMPERINGS = {
    "a larger rank": ("members", 0, "k", 1),
    "a smaller delta": ("coverage", "delta", -0.04),
    "a smaller alpha": ("coverage", "alpha", -0.02),
    "a better efficiency": ("efficiency", "upper_bound", -0.1),
    "a cheaper choice": ("coverage", "union", "weights", 0, 0.5),
}


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS.keys())
def test_a_certificate_whose_numbers_were_changed_does_not_verify(toy: Predictor, change: tuple[Any, ...]) -> None:
    content = json.loads(json.dumps(toy.certificate.to_json()))
    *path, last, step = change
    place = content
    for key in path:
        place = place[key]
    place[last] += step
    assert not Certificate.from_json(content).verify().valid


def test_the_statement_says_over_which_randomness() -> None:
    for settings, words in (
        ({"method": "learned"}, "over the drawing of the 300 calibration points"),
        ({"guarantee": "posterior"}, "90 %"),
    ):
        certificate = fit(toy_model(), *toy_data(600, 0), **(QUICK | settings)).certificate
        assert words in certificate.statement
        assert "95 %" in certificate.statement
        assert any("exchangeable" in assumption for assumption in certificate.assumptions)


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
