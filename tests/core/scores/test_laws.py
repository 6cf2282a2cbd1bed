"""The laws of the protocol, which every score must pass; its own part is only how to make random inputs for it."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from certiset.core.errors import OptionError
from certiset.core.scores import SCORES, ModelOutputs, Score, make_score
from tests.devices import DEVICES, DTYPES

ROWS = 40
DRAWS = 3


@dataclass(frozen=True)
class Inputs:
    prediction: ModelOutputs
    y: Tensor


def make_inputs(score: Score, device: str, dtype: torch.dtype, seed: int = 0) -> Inputs:
    generator = torch.Generator().manual_seed(seed)
    width = (
        4 if score.task == "classification" else {"cqr": 2, "ball": 3, "box": 3, "scaled_ball": 3}.get(score.kind, 1)
    )
    outputs = 3 * torch.randn(DRAWS, ROWS, width, generator=generator, dtype=torch.float64)
    if score.kind == "cqr":
        outputs = outputs.sort(dim=-1).values
    scale = torch.rand(DRAWS, ROWS, generator=generator, dtype=torch.float64) + 0.1 if score.has_scale else None
    if score.task == "classification":
        y = torch.randint(width, (ROWS,), generator=generator)
    else:
        y = 3 * torch.randn(ROWS, 1 if score.kind == "cqr" else width, generator=generator, dtype=torch.float64)
        y = y.to(dtype)
    prediction = ModelOutputs(outputs.to(device, dtype), None if scale is None else scale.to(device, dtype))
    return Inputs(prediction, y.to(device))


everywhere = pytest.mark.parametrize(
    ("kind", "device", "dtype"), [(k, d, t) for k in SCORES for d in DEVICES for t in DTYPES]
)


@everywhere
def test_level_set_contains_y_exactly_when_its_score_is_at_most_tau(kind: str, device: str, dtype: torch.dtype) -> None:
    score = make_score(kind)
    inputs = make_inputs(score, device, dtype)
    scores = score.of_target(inputs.prediction, inputs.y)
    assert scores.shape == (DRAWS, ROWS)
    thresholds = torch.linspace(float(scores.min()) - 0.1, float(scores.max()) + 0.1, 23, device=device, dtype=dtype)
    for tau in thresholds:
        for draw, sets in enumerate(score.level_set(inputs.prediction, tau.expand(DRAWS))):
            expected = (scores[draw] <= tau).cpu().numpy()
            assert np.array_equal(sets.contains(inputs.y.cpu().numpy()), expected)


@everywhere
def test_a_threshold_equal_to_a_score_lets_its_y_in(kind: str, device: str, dtype: torch.dtype) -> None:
    """Membership is <=, and rounding of a set's ends must not undo it: calibration points themselves are at tau."""
    score = make_score(kind)
    for seed in range(20):
        inputs = make_inputs(score, device, dtype, seed)
        scores = score.of_target(inputs.prediction, inputs.y)
        for draw, sets in enumerate(score.level_set(inputs.prediction, scores)):
            assert sets.contains(inputs.y.cpu().numpy()).all(), (seed, draw)


@everywhere
def test_size_is_the_size_of_the_sets_and_does_not_decrease_in_tau(kind: str, device: str, dtype: torch.dtype) -> None:
    score = make_score(kind)
    inputs = make_inputs(score, device, dtype)
    previous = torch.full((DRAWS, ROWS), -1.0, device=device, dtype=dtype)
    for value in torch.linspace(-1, 8, 30).tolist():
        tau = torch.full((DRAWS,), value, device=device, dtype=dtype)
        size = score.size(inputs.prediction, tau)
        assert bool((size >= previous).all())
        for draw, sets in enumerate(score.level_set(inputs.prediction, tau)):
            assert sets.size == pytest.approx(size[draw].cpu().numpy(), rel=2e-6, abs=2e-6)
        previous = size


@everywhere
def test_soft_size_tends_to_the_size(kind: str, device: str, dtype: torch.dtype) -> None:
    score = make_score(kind)
    inputs = make_inputs(score, device, dtype)
    tau = torch.full((DRAWS,), 1.234, device=device, dtype=dtype)
    soft = score.soft_size(inputs.prediction, tau, temperature=1e-6)
    assert soft.cpu().numpy() == pytest.approx(score.size(inputs.prediction, tau).cpu().numpy(), rel=1e-3, abs=1e-3)


@everywhere
def test_draws_do_not_influence_each_other(kind: str, device: str, dtype: torch.dtype) -> None:
    score = make_score(kind)
    inputs = make_inputs(score, device, dtype)
    tau = torch.tensor([0.5, 1.0, 2.0], device=device, dtype=dtype)
    together = score.size(inputs.prediction, tau), score.of_target(inputs.prediction, inputs.y)
    for draw in range(DRAWS):
        scale = inputs.prediction.scale
        alone = ModelOutputs(
            inputs.prediction.outputs[draw : draw + 1], None if scale is None else scale[draw : draw + 1]
        )
        assert torch.equal(score.size(alone, tau[draw : draw + 1])[0], together[0][draw])
        assert torch.equal(score.of_target(alone, inputs.y)[0], together[1][draw])


@everywhere
def test_an_infinite_threshold_is_all_of_space(kind: str, device: str, dtype: torch.dtype) -> None:
    score = make_score(kind)
    inputs = make_inputs(score, device, dtype)
    tau = torch.full((DRAWS,), torch.inf, device=device, dtype=dtype)
    for sets in score.level_set(inputs.prediction, tau):
        assert sets.contains(inputs.y.cpu().numpy()).all()
        assert score.task == "classification" or sets[0]["unbounded"]


@pytest.mark.parametrize("kind", SCORES)
def test_gradients_reach_the_outputs(kind: str) -> None:
    score = make_score(kind)
    inputs = make_inputs(score, "cpu", torch.float64)
    outputs = inputs.prediction.outputs.requires_grad_(True)
    prediction = ModelOutputs(outputs, inputs.prediction.scale)
    loss = score.proper_loss(prediction, inputs.y, 0.1)
    assert loss.shape == (DRAWS,)
    (gradient,) = torch.autograd.grad(loss.sum(), [outputs])
    assert torch.isfinite(gradient).all()
    assert gradient.abs().sum() > 0


@pytest.mark.parametrize("kind", SCORES)
def test_nothing_needs_the_values_on_the_host(kind: str) -> None:
    """On the meta device there are no values: any hidden synchronisation would fail."""
    score = make_score(kind)
    inputs = make_inputs(score, "meta", torch.float32)
    tau = torch.zeros(DRAWS, device="meta")
    assert score.of_target(inputs.prediction, inputs.y).shape == (DRAWS, ROWS)
    assert score.size(inputs.prediction, tau).shape == (DRAWS, ROWS)
    assert score.soft_size(inputs.prediction, tau, 0.1).shape == (DRAWS, ROWS)
    assert score.proper_loss(inputs.prediction, inputs.y, 0.1).shape == (DRAWS,)


def test_aps_is_the_probability_of_labels_at_least_as_likely() -> None:
    logits = torch.log(torch.tensor([[[0.5, 0.2, 0.3]]], dtype=torch.float64))
    found = make_score("aps").of_target(ModelOutputs(logits.expand(1, 3, 3)), torch.tensor([0, 1, 2]))
    assert found[0].tolist() == pytest.approx([0.5, 1.0, 0.8])
    raps = make_score({"kind": "raps", "penalty": 0.1, "free": 1})
    assert raps.of_target(ModelOutputs(logits.expand(1, 3, 3)), torch.tensor([0, 1, 2]))[0].tolist() == pytest.approx(
        [0.5, 1.2, 0.9]
    )


def test_unknown_scores_and_options_are_named() -> None:
    with pytest.raises(OptionError, match=r"score\.kind must be one of aps"):
        make_score("margin")
    with pytest.raises(OptionError, match=r"score\.penalty is not an option"):
        make_score({"kind": "lac", "penalty": 1})
    with pytest.raises(OptionError, match="two outputs"):
        make_score("cqr").check(1, 1)
    with pytest.raises(OptionError, match="ball, box and scaled_ball"):
        make_score("residual").check(2, 2)
    with pytest.raises(OptionError, match="as many outputs as targets"):
        make_score("ball").check(2, 3)
    with pytest.raises(OptionError, match="two classes"):
        make_score("aps").check(1, 1)


def test_the_standard_method_drops_the_scale() -> None:
    assert make_score("scaled_residual").without_scale().kind == "residual"
    assert make_score("scaled_ball").without_scale().kind == "ball"
    assert make_score("aps").without_scale().kind == "aps"


@pytest.mark.parametrize("kind", SCORES)
def test_auditors_know_which_scores_have_sets_of_one_size_and_how_large_they_are(kind: str) -> None:
    score = make_score({"kind": kind})
    inputs = make_inputs(score, "cpu", torch.float64)
    tau = score.of_target(inputs.prediction, inputs.y).quantile(0.9, dim=1)
    sizes = score.size(inputs.prediction, tau)
    constant = bool(torch.allclose(sizes, sizes[:, :1].expand_as(sizes)))
    assert constant == (score.one_size is not None)
    if score.one_size is not None:
        expected = [score.one_size.at(float(each), inputs.prediction.outputs.shape[-1]) for each in tau]
        assert sizes[:, 0].tolist() == pytest.approx(expected)
