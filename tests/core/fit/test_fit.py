"""`fit` end to end: what it promises, what it chooses, and what it says."""

import json
import math
from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.bounds import threshold, vovk_2b
from certiset.core.certificate import Certificate
from certiset.core.errors import FitError, OptionError, StoppedError
from certiset.core.fit import candidates as candidates_module
from certiset.core.fit import fit
from certiset.core.models import Model
from certiset.core.posterior.optimizer import Result
from certiset.core.posterior.projected import minimise_projected
from tests.core.fit.problems import (
    QUICK,
    STEPS_PAY,
    class_data,
    class_model,
    shifted_logits,
    shifted_logits_model,
    toy_data,
    toy_model,
)

CX, CY = class_data(400, 0)

SETTINGS: list[dict[str, Any]] = [
    {"method": "standard"},
    {"method": "standard", "bound": "vovk_2a"},
    {"method": "learned"},
    {"method": "learned", "bound": "vovk_2a", "prior": {"objective": "size", "steps": 60}},
    {},
    {"guarantee": "per_draw", "serve": "best"},
    {"prior": {"train": "none"}},
    {"dtype": "float64"},
    {"method": "progressive"},
    {"method": "progressive", "dtype": "float64", "prior": {"split": 0.3, "steps": 60}},
    {"method": "pac_bayes"},
    {"method": "pac_bayes", "serve": "best"},
    {"method": "pac_bayes", "guarantee": "posterior"},
    {"method": "pac_bayes", "guarantee": "posterior", "bound": "seeger"},
    {"method": "pac_bayes", "prior": {"train": "none"}},
    {"method": "pac_bayes", "prior": {"train": "mean", "objective": "mix", "steps": 60}},
    {
        "method": "pac_bayes",
        "optimizer": {"kind": "augmented_lagrangian", "outer": 2, "steps": 20, "quantile": "neural_sort"},
    },
    {"method": "pac_bayes", "alpha_hat": 0.03},
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
    predictor = fit(class_model(), *class_data(300, 1), score=score, method="pac_bayes", **QUICK)
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
    predictor = fit(model, *data(400, 1), score=score, method="pac_bayes", **QUICK)
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
    predictor = fit(toy_model(), *toy_data(600, 1), method="pac_bayes", **(QUICK | settings))
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
    ("method", "expected"),
    [
        ("standard", ["prepare", "calibrate"]),
        ("learned", ["prepare", "tune", "calibrate"]),
        ("pac_bayes", ["prepare", "tune", "fit", "calibrate"]),
        ("progressive", ["prepare", "compare", "tune", "calibrate"]),
        ("auto", ["prepare", "compare", "tune", "calibrate"]),
    ],
)
def test_progress_goes_through_its_phases_and_ends_at_one(method: str, expected: list[str]) -> None:
    seen: list[dict[str, Any]] = []
    options = QUICK | {"optimizer": {"steps": 60}, "method": method}
    fit(toy_model(), *toy_data(1500, 0), progress=seen.append, **options)
    phases = [entry["phase"] for entry in seen]
    assert list(dict.fromkeys(phases)) == expected
    fractions = [entry["fraction"] for entry in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    for spent in (entry["metrics"] for entry in seen if entry["phase"] == "fit"):
        assert spent["kl"] <= spent["budget"] * 1.01


@pytest.mark.parametrize("method", ["auto", "standard", "learned", "pac_bayes", "progressive"])
@pytest.mark.parametrize("questions", [0, 3])
def test_a_fit_that_is_asked_to_stop_stops(method: Any, questions: int) -> None:
    """At once, or on the way."""
    asked = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > questions

    if method == "standard" and questions:
        pytest.skip("it is over before it has asked so often")
    with pytest.raises(StoppedError):
        fit(toy_model(), *toy_data(600, 0), should_stop=should_stop, method=method, **QUICK)


def test_a_diverging_posterior_step_is_an_error_that_says_what_may_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is certified in the place of a posterior."""

    def explode(prior: Any, budgets: list[float], loss: Any, **options: Any) -> Result:
        return minimise(prior, budgets, lambda theta: loss(theta) * math.nan, **options)

    minimise = minimise_projected
    monkeypatch.setattr(candidates_module, "minimise_projected", explode)
    with pytest.raises(FitError, match=r"diverged after \d+ steps: a smaller optimizer\.rate or prior\.scale may help"):
        fit(toy_model(), *toy_data(1500, 0), method="pac_bayes", **QUICK)


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
        ({"method": "pac_bayes", "guarantee": "posterior"}, "90 %"),
        ({"method": "progressive"}, "90 %"),
    ):
        certificate = fit(toy_model(), *toy_data(600, 0), **(QUICK | settings)).certificate
        assert words in certificate.statement
        assert "95 %" in certificate.statement
        assert any("independently" in assumption for assumption in certificate.assumptions)


def test_objectives_have_names_of_their_own() -> None:
    named = fit(class_model(), CX, CY, method="learned", prior={"objective": "cross_entropy", "steps": 20})
    proper = fit(class_model(), CX, CY, method="learned", prior={"objective": "proper", "steps": 20})
    assert named.certificate.digest == proper.certificate.digest
    with pytest.raises(OptionError, match="laplace cannot be used for classification"):
        fit(class_model(), CX, CY, prior={"objective": "laplace"})


def test_levels_without_nats_to_spend_are_not_paid_for() -> None:
    union = fit(toy_model(), *toy_data(600, 0), method="pac_bayes", **QUICK).certificate.coverage.union
    assert union.choices == [f"posterior step at alpha_hat = {level}" for level in ("0.02", "0.035")]
    assert union.weights == [0.5, 0.5]


def test_weights_may_be_parameters_of_a_module() -> None:
    layer = torch.nn.Linear(2, 3)
    manifest = {"task": "classification", "classes": 3, "input_shape": [2]}
    model = Model.from_manifest(
        manifest | {"head": {"kind": "mlp", "widths": [2, 3], "activation": "relu"}},
        {"head.0.weight": layer.weight, "head.0.bias": layer.bias},
    )
    assert fit(model, CX, CY, **QUICK).certificate.verify().valid


def test_the_backbone_runs_once_over_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    model = class_model()
    rows = 0
    inner = type(model.backbone).features

    def counting(self: Any, x: torch.Tensor) -> torch.Tensor:
        nonlocal rows
        rows += len(x)
        return inner(self, x)

    monkeypatch.setattr(type(model.backbone), "features", counting)
    fit(model, CX, CY, method="learned", **QUICK)
    again = len(CX) // 2
    assert rows <= len(CX) + 2 * (again + 16) + 16, "once to fit, and once more over D_N: as a reference and as served"
