"""Densities and divergences against torch.distributions."""

from typing import Any

import pytest
import torch
from torch.distributions import Independent, Normal, kl

from certiset.core.posterior.gaussian import DiagonalGaussian, fan_in_prior, kl_divergence, log_ratio
from tests.devices import DEVICES, DTYPES


def pair(device: str, dtype: torch.dtype) -> tuple[DiagonalGaussian, DiagonalGaussian]:
    generator = torch.Generator().manual_seed(0)
    mean, scale, shift, spread = (torch.randn(50, generator=generator) for _ in range(4))
    prior = DiagonalGaussian(mean.to(device, dtype), 0.3 * scale.to(device, dtype))
    return DiagonalGaussian(
        prior.mean + 0.1 * shift.to(device, dtype), prior.log_scale + 0.1 * spread.to(device, dtype)
    ), prior


def as_torch(gaussian: DiagonalGaussian) -> Any:
    return Independent(Normal(gaussian.mean.double(), gaussian.log_scale.double().exp()), 1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_divergence_is_from_the_posterior_to_the_prior(device: str, dtype: torch.dtype) -> None:
    posterior, prior = pair(device, dtype)
    expected = float(kl.kl_divergence(as_torch(posterior), as_torch(prior)))
    other = float(kl.kl_divergence(as_torch(prior), as_torch(posterior)))
    assert float(kl_divergence(posterior, prior)) == pytest.approx(expected, rel=1e-9)
    assert abs(expected - other) > 1e-3, "the test must tell the two directions apart"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_log_ratio_is_the_difference_of_log_densities(device: str, dtype: torch.dtype) -> None:
    posterior, prior = pair(device, dtype)
    noise = torch.randn(7, 50, generator=torch.Generator().manual_seed(1)).to(device, dtype)
    theta = posterior.sample(noise)
    expected = as_torch(posterior).log_prob(theta.double()) - as_torch(prior).log_prob(theta.double())
    assert log_ratio(posterior, prior, theta).tolist() == pytest.approx(expected.tolist(), rel=1e-9, abs=1e-9)


def test_mean_log_ratio_is_the_divergence() -> None:
    posterior, prior = pair("cpu", torch.float64)
    noise = torch.randn(200_000, 50, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    ratios = log_ratio(posterior, prior, posterior.sample(noise))
    error = float(ratios.std()) / 200_000**0.5
    assert float(ratios.mean()) == pytest.approx(float(kl_divergence(posterior, prior)), abs=4 * error)


def test_prior_variance_is_scale_over_the_root_of_the_fan_in() -> None:
    prior = fan_in_prior(torch.zeros(2), torch.tensor([400.0, 1.0]), 0.01)
    assert (2 * prior.log_scale).exp().tolist() == pytest.approx([0.01 / 20, 0.01])


def test_distance_is_in_standard_deviations_and_near_one_for_own_draws() -> None:
    prior = DiagonalGaussian(torch.tensor([1.0, -2.0]), torch.tensor([2.0, 0.5]).log())
    theta = torch.tensor([[1.0, -2.0], [5.0, -2.0], [3.0, -1.5]])
    assert prior.distance(theta).tolist() == pytest.approx([0.0, 2**0.5, 1.0])
    noise = torch.randn(2000, 2, generator=torch.Generator().manual_seed(0))
    assert float(prior.distance(prior.sample(noise)).square().mean()) == pytest.approx(1, abs=0.1)
