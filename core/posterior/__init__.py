"""Distributions over score parameters: Gaussians, batched networks, soft quantiles and the optimizers that fit them."""
