"""The grid on which sizes are certified: fixed by tuning inputs, and wide enough for any threshold that matters."""

import torch

from certiset.core.fit.options import FitOptions
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer, make_scorer
from certiset.core.fit.thresholds import calibrate, next_grid_point
from certiset.core.fit.ties import Threshold
from tests.core.fit.problems import shifted_logits_model, toy_model


def logits(rows: int, seed: int, sharpness: float) -> Rows:
    """Confident logits for six classes; the first is always the largest."""
    outputs = torch.randn(rows, 6, generator=torch.Generator().manual_seed(seed))
    outputs[:, 0] += sharpness
    return Rows(outputs, outputs, torch.zeros(rows, dtype=torch.int64))


def scorer() -> Scorer:
    model = shifted_logits_model()
    options = FitOptions.read({}).resolved("classification")
    return make_scorer(model, options, options.chosen_score, tuned=True, features=6)


def test_targets_that_were_learned_by_heart_do_not_make_the_certificate_vacuous() -> None:
    tuning, kept = logits(200, 0, sharpness=12.0), logits(400, 1, sharpness=12.0)
    kept.y[:80] = 1  # on D_N the model is wrong for a fifth, far beyond any score of a tuning target
    found = calibrate(scorer(), torch.zeros(1, 12), kept, [40], tuning=tuning, cap=6.0)
    scores = scorer().score.of_target(scorer().predict(torch.zeros(1, 12), tuning), tuning.y)
    assert found.tau[0] > 8 * float(scores.max()) + 1
    assert found.efficiency[0] < 0.9
    assert found.efficiency[0] >= found.size[0] / 6.0 - 1e-6


def test_the_grid_does_not_depend_on_targets() -> None:
    tuning, tau = logits(100, 2, sharpness=3.0), torch.tensor([2.5])
    other = Rows(tuning.features, tuning.outputs, torch.randint(0, 6, (100,)))
    points = [next_grid_point(scorer(), torch.zeros(12), rows, 6.0, Threshold(tau)).tau for rows in (tuning, other)]
    assert torch.equal(points[0], points[1])
    assert points[0] >= tau


def test_beyond_the_grid_everything_counts_as_full() -> None:
    tuning = logits(50, 3, sharpness=1.0)
    assert torch.isinf(next_grid_point(scorer(), torch.zeros(12), tuning, 6.0, Threshold(torch.tensor([1e6]))).tau)


def test_the_grid_reaches_the_cap_of_intervals() -> None:
    options = FitOptions.read({"score": {"kind": "residual"}, "tune": "head"}).resolved("regression")
    plain = make_scorer(toy_model(), options, options.chosen_score, tuned=True, features=1)
    x = torch.linspace(-1, 1, 50).view(-1, 1)
    rows = Rows(x, toy_model().given_outputs(x), torch.zeros(50, 1))
    theta = toy_model().head_parameters
    for cap in (0.01, 1.0, 1e4):
        point = next_grid_point(plain, theta, rows, cap, Threshold(torch.tensor([0.4 * cap]))).tau
        assert 0.4 * cap <= float(point) <= 0.5 * cap * 1.1
