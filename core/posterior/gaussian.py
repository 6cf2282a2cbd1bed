r"""Gaussians with a diagonal covariance over a flat parameter vector.

KL(Q‖P) = ½ Σ_i [ e^{2 r_i} - 1 - 2 r_i + m_i² ],  m = (mean_Q - mean_P) / scale_P,  r = log(scale_Q / scale_P).

(The paper's appendix writes KL(P‖Q) in the augmented Lagrangian; the theorem needs KL(Q‖P), and so do we.)
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class DiagonalGaussian:
    """N(mean, diag(exp(2 log_scale))); leading dimensions are a batch of distributions."""

    mean: Tensor
    """(..., d)"""
    log_scale: Tensor
    """(..., d): the logarithm of the standard deviation"""

    def sample(self, noise: Tensor) -> Tensor:
        """Reparameterised draws from standard normal noise: (..., draws, d)."""
        return self.mean.unsqueeze(-2) + self.log_scale.exp().unsqueeze(-2) * noise

    def log_density(self, theta: Tensor) -> Tensor:
        """(..., draws) for theta (..., draws, d), in float64: the terms are many and cancel in a ratio."""
        mean, log_scale = self.mean.double().unsqueeze(-2), self.log_scale.double().unsqueeze(-2)
        standardised = (theta.double() - mean) * torch.exp(-log_scale)
        return -(0.5 * standardised.square() + log_scale + 0.5 * math.log(2 * math.pi)).sum(dim=-1)

    def distance(self, theta: Tensor) -> Tensor:
        """(..., draws): how far theta lies from the mean, in standard deviations, as the root mean square over the
        parameters; near 1 for the distribution's own draws."""
        mean, log_scale = self.mean.double().unsqueeze(-2), self.log_scale.double().unsqueeze(-2)
        return ((theta.double() - mean) * torch.exp(-log_scale)).square().mean(dim=-1).sqrt()

    def __getitem__(self, index: int) -> "DiagonalGaussian":
        return DiagonalGaussian(self.mean[index], self.log_scale[index])


def whitened_kl(shift: Tensor, log_ratio_of_scales: Tensor) -> Tensor:
    """KL(Q‖P) in whitened coordinates (m, r): (..., d) to (...,)."""
    return 0.5 * (torch.expm1(2 * log_ratio_of_scales) - 2 * log_ratio_of_scales + shift.square()).sum(dim=-1)


def kl_divergence(posterior: DiagonalGaussian, prior: DiagonalGaussian) -> Tensor:
    """KL(posterior ‖ prior), (...,), in float64."""
    log_scale = prior.log_scale.double()
    shift = (posterior.mean.double() - prior.mean.double()) * torch.exp(-log_scale)
    return whitened_kl(shift, posterior.log_scale.double() - log_scale)


def log_ratio(posterior: DiagonalGaussian, prior: DiagonalGaussian, theta: Tensor) -> Tensor:
    """rho(theta) = log q(theta) - log p(theta), (..., draws)."""
    return posterior.log_density(theta) - prior.log_density(theta)


def fan_in_prior(mean: Tensor, fan_in: Tensor, scale: float) -> DiagonalGaussian:
    """The paper's prior: variance scale / sqrt(fan_in) around ``mean``."""
    return DiagonalGaussian(mean, 0.5 * (math.log(scale) - 0.5 * fan_in.log()).to(mean.dtype))
