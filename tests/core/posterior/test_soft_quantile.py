"""Soft quantiles tend to the order statistic that calibration takes."""

import numpy as np
import pytest
import torch

from certiset.core.bounds import calibration_rank, threshold_index
from certiset.core.posterior.soft_quantile import neural_sort, place_in_batch, smooth_quantile


@pytest.mark.parametrize("batch", [100, 99, 256])
@pytest.mark.parametrize("level", [0.02, 0.05, 0.08, 0.1, 0.29])
def test_place_is_that_of_the_calibration_rank(batch: int, level: float) -> None:
    expected = threshold_index(batch, calibration_rank(batch, level))
    assert int(place_in_batch(torch.tensor([level]), batch)) == expected


def test_a_rank_below_one_takes_the_largest_score_of_the_batch() -> None:
    assert int(place_in_batch(torch.tensor([0.001]), 50)) == 50


@pytest.mark.parametrize("place", [1, 17, 50])
def test_smooth_quantile_is_the_order_statistic_in_the_limit(place: int) -> None:
    scores = torch.randn(4, 50, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    found = smooth_quantile(scores, torch.tensor(place), bandwidth=0.0)
    expected = np.sort(scores.detach().numpy(), axis=1)[:, place - 1]
    assert found.tolist() == expected.tolist()
    (gradient,) = torch.autograd.grad(found.sum(), [scores])
    assert torch.equal(gradient, (scores.detach() == torch.from_numpy(expected)[:, None]).double())


def test_smooth_quantile_is_smooth_and_close() -> None:
    scores = torch.linspace(0, 1, 101, dtype=torch.float64)
    assert float(smooth_quantile(scores, torch.tensor(90.0), bandwidth=2.0)) == pytest.approx(0.89, abs=1e-6)


@pytest.mark.parametrize("place", [1, 30, 60])
def test_neural_sort_is_the_order_statistic_in_the_limit(place: int) -> None:
    scores = torch.randn(3, 60, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = neural_sort(scores, torch.tensor(place), temperature=1e-6)
    assert found.tolist() == pytest.approx(scores.sort(dim=1).values[:, place - 1].tolist())


def test_neural_sort_does_not_mind_the_unit_of_the_scores() -> None:
    scores = torch.randn(60, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    one = neural_sort(scores, torch.tensor(55), temperature=0.1)
    assert float(neural_sort(1000 * scores, torch.tensor(55), temperature=0.1)) == pytest.approx(1000 * float(one))
