r"""The divergence between two coins, and its inverses.

.. math::

    \mathrm{kl}(p \| q) = p \log\frac pq + (1 - p) \log\frac{1 - p}{1 - q}

**Numerics.** With d = q - p the two terms are

    kl(p‖q) = p g(d / p) + (1 - p) g(-d / (1 - p)),    g(t) = t - log(1 + t) >= 0,

because the linear parts d and -d cancel *exactly*. Both summands are non-negative, so nothing is lost however
close p and q are to each other, to 0 or to 1, as long as g itself is computed without cancellation. With
r = t / (2 + t), log(1 + t) = 2 artanh r gives g(t) = r t - 2 (r^3/3 + r^5/5 + ...), used for small t.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from certiset.core.bounds.domain import Floats, answer, closed_unit, real, shown, together
from certiset.core.bounds.errors import DomainError

_SERIES = 1.0 / np.arange(3, 41, 2)  # |r| <= 1/3 here, so that the next term is below 1e-19 of the sum
_BISECTIONS = 70
_NEWTON_STEPS = 3


def binary_kl(p: ArrayLike, q: ArrayLike) -> float | Floats:
    """kl(p‖q) in nats, exact at 0 and 1: kl(0‖q) = -log(1 - q), kl(1‖q) = -log q, infinite where q rules p out."""
    p_, q_ = together(p=closed_unit("p", p), q=closed_unit("q", q))
    return answer(kl(p_, q_))


def kl_inverse(p: ArrayLike, c: ArrayLike) -> float | Floats:
    """The largest q in [p, 1] with kl(p‖q) <= c.

    If p is an observed mean of [0, 1]-valued variables and c bounds its divergence from the true mean, the
    true mean is at most this.
    """
    p_, c_ = together(p=closed_unit("p", p), c=_bound("c", c))
    return answer(upper_inverse(p_, c_))


def kl_inverse_of_mean(q: ArrayLike, c: ArrayLike) -> float | Floats:
    """The largest p in [q, 1] with kl(p‖q) <= c.

    The other direction: q is (a bound on) the true mean, and the observed mean is at most this.
    """
    q_, c_ = together(q=closed_unit("q", q), c=_bound("c", c))
    return answer(_upper_inverse_of_mean(q_, c_))


def kl(p: Floats, q: Floats) -> Floats:
    """`binary_kl` on arrays of one shape that are known to lie in [0, 1]."""
    # 1 - p is exact for p >= 1/2 and correctly rounded below, where the second term is insensitive to it.
    return _half(p, q - p, q) + _half(1 - p, p - q, 1 - q)


def upper_inverse(p: Floats, c: Floats) -> Floats:
    """`kl_inverse` on arrays of one shape.

    Bisection in log-odds, which resolve q to full relative precision at both ends of [0, 1], then Newton steps
    in q - p; kl(p‖·) is convex and increasing above p, so a step from the right never overshoots.
    """
    with np.errstate(divide="ignore"):
        low = logit(p)
    high = np.full_like(low, 800.0)
    inner = (p > 0) & (p < 1) & (c > 0) & np.isfinite(c)
    low = np.where(inner, low, 0.0)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = kl(p, expit(middle)) <= c
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    q = np.maximum(expit(high), p)
    for _ in range(_NEWTON_STEPS):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = (kl(p, q) - c) * q * (1 - q) / (q - p)
        refined = q - np.where(np.isfinite(step), step, 0.0)
        q = np.where((refined >= p) & (refined <= 1), refined, q)
    q = np.where(c == 0, p, q)
    q = np.where(p == 0, -np.expm1(-c), q)
    return np.where((p == 1) | np.isposinf(c), 1.0, q)


def _upper_inverse_of_mean(q: Floats, c: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        start = logit(q)
        ceiling = -np.log(q)  # kl(1‖q)
    inner = (q > 0) & (q < 1) & (c > 0) & (c < ceiling)
    low, high = np.where(inner, start, 0.0), np.full_like(start, 800.0)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = kl(expit(middle), q) <= c
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    p = np.where(inner, np.maximum(expit(high), q), q)
    return np.where((c >= ceiling) & (q > 0), 1.0, p)


def _half(p: Floats, d: Floats, q: Floats) -> Floats:
    """p g(d / p) with q = p + d: one of the two non-negative summands of kl."""
    near = (np.abs(d) <= 0.5 * p) & (p > 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        t = np.where(near, d / p, 0.0)
        far = d - np.where(p > 0, p * (np.log(q) - np.log(p)), 0.0)
    return np.where(near, p * _t_minus_log1p(t), far)


def _t_minus_log1p(t: Floats) -> Floats:
    """t - log(1 + t) for |t| <= 1/2 to full relative precision."""
    r = t / (2 + t)
    square = r * r
    tail = np.zeros_like(r)
    for coefficient in _SERIES[::-1]:
        tail = tail * square + coefficient
    return r * (t - 2 * square * tail)


def _bound(name: str, value: ArrayLike) -> Floats:
    numbers = real(name, value)
    if np.any(numbers < 0):
        raise DomainError(f"{name} must not be negative, not {shown(np.min(numbers))}.")
    return numbers
