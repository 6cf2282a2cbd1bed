r"""Exponential moments of the miscoverage: log E exp(lambda (L - alpha)) for L ~ Beta(k, n+1-k).

E exp(lambda L) = 1F1(k; n+1; lambda) overflows near n = 1000 and its logarithm, minus lambda alpha, cancels. Instead
the integral is taken around its peak, in log-odds y = log(x / (1-x)), where the integrand

    exp(phi(y)),   phi(y) = k log x + (n+1-k) log(1-x) + lambda x   (up to the constant of the Beta density)

is analytic on the whole line and has exactly one peak: phi' = k - (n+1) x + lambda x (1-x) is a concave quadratic
in x that is positive at 0 and negative at 1. Hence the peak has a closed form,

    lambda = ((n+1) x* - k) / (x* (1 - x*)),

and the integrand falls monotonically on both sides of it. It is summed between the two points where it has
fallen by a factor e^40 by the trapezoidal rule, which converges geometrically for such integrands.
"""

from dataclasses import dataclass

import numpy as np

from certiset.core.bounds.beta import log_density
from certiset.core.bounds.domain import Floats, Ints

_NODES = 96
_NODES_OF_SMALL_RANKS = 288  # at k <= 2 the left tail, falling as x^k, is long compared with the peak
_SMALL_RANK = 2
_FALL = 40.0
_BISECTIONS = 12  # of 30 log-units: the reach to within one per cent
_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class TiltedBeta:
    """The law of L, reweighted by exp(lambda L)."""

    log_moment: Floats
    """log E exp(lambda (L - alpha)) under the untilted law"""
    excess: Floats
    """tilted mean minus alpha"""
    variance: Floats
    """tilted variance"""


def tilt_for_peak(n: Ints, k: Ints, peak: Floats) -> Floats:
    """The lambda whose tilted law peaks (in log-odds) at ``peak``; positive where peak > k / (n+1)."""
    return ((n + 1) * peak - k) / (peak * (1 - peak))


def tilted_beta(n: Ints, k: Ints, tilt: Floats, alpha: Floats) -> TiltedBeta:
    """Moments of the tilted law for vectors of one length, a few thousand rows at a time."""
    columns = np.empty((3, n.size))
    small = k <= _SMALL_RANK
    for group, nodes in ((small, _NODES_OF_SMALL_RANKS), (~small, _NODES)):
        members = np.flatnonzero(group)
        for start in range(0, members.size, _ROWS_AT_ONCE):
            rows = members[start : start + _ROWS_AT_ONCE]
            columns[:, rows] = _tilted_rows(n[rows], k[rows], tilt[rows], alpha[rows], nodes)
    return TiltedBeta(*columns)


def _tilted_rows(n: Ints, k: Ints, tilt: Floats, alpha: Floats, nodes: int) -> tuple[Floats, Floats, Floats]:
    centre = _peak(n, k, tilt)
    left, right = _reach(n, k, tilt, centre, -1.0), _reach(n, k, tilt, centre, 1.0)
    step = (left + right) / (nodes - 1)
    offsets = np.linspace(-left, right, nodes, axis=-1)  # (rows, nodes)
    column = (slice(None), None)
    drop, shift = _relative(n[column], k[column], tilt[column], centre[column], offsets)
    weights = np.exp(drop)  # (rows, nodes)
    mass = weights.sum(axis=-1)
    mean = (weights * shift).sum(axis=-1) / mass
    variance = (weights * (shift - mean[column]) ** 2).sum(axis=-1) / mass
    distance = centre - alpha
    log_moment = log_density(n, k, centre) + np.log(centre) + np.log1p(-centre) + tilt * distance + np.log(mass * step)
    return log_moment, mean + distance, variance


def _peak(n: Ints, k: Ints, tilt: Floats) -> Floats:
    """The root in (0, 1) of tilt x^2 - (tilt - n - 1) x - k, by whichever form of it does not cancel."""
    b = tilt - n - 1
    root = np.sqrt(b * b + 4 * tilt * k)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = (b + root) / (2 * tilt)
        left = 2 * k / (root - b)
    return np.where(b > 0, right, left)


def _relative(n: Ints, k: Ints, tilt: Floats, centre: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """phi(y* + offset) - phi(y*), and x - x*, without forming either large number."""
    growth = np.expm1(offset)
    scale = 1 + centre * growth
    shift = centre * (1 - centre) * growth / scale
    return k * offset - (n + 1) * np.log1p(centre * growth) + tilt * shift, shift


def _reach(n: Ints, k: Ints, tilt: Floats, centre: Floats, side: float) -> Floats:
    """How far from the peak, to one side, the integrand has fallen by e^_FALL (bisection on the logarithm)."""
    low, high = np.full_like(centre, -25.0), np.full_like(centre, 5.0)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        drop, _shift = _relative(n, k, tilt, centre, side * np.exp(middle))
        near = drop > -_FALL
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    return np.exp(high)
