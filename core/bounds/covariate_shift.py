r"""A known shift of the inputs: rows are kept in proportion to their weights, and are draws from the target law.

**Statement.** Let rows be independent draws from P, and the target law Q have the density b with respect to P, up to a
constant factor: dQ = c b dP, 0 <= b <= B. Let row i be kept if u_i < b(row_i) / B, for independent uniforms u_i. If b,
B and the uniforms do not depend on the calibration rows, then given which rows are kept, these are **independent draws
from Q**, and their number is known: every bound of this package holds on them, for a future point from Q.

*Proof.* P(row in A and kept) = E[1_A b / B] = Q(A) / (c B). So a row is kept with probability 1 / (c B), and given
that it is, its law is Q. Rows are kept or not independently of each other; so given which are, these are independent,
with law Q each.

Of n rows sum_i b_i / B are kept on average, which is n / B where b has mean 1 (c = 1): the fewer, the further the
target is from the rows. b may depend on the truth, too. What the statement needs is that it is known: weights that
were estimated are an assumption. B must not be read off the rows: with the largest weight seen in place of a bound,
what lies beyond them is left out, and so are its misses.

A weight above B is refused, not cut: cut, it would be that of another target. The comparison is strict and u_i < 1, so
that a weight of 0 is never kept and one of B always.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.bounds.domain import Floats, finite, one_number, shown
from certiset.core.bounds.errors import DomainError


def thinning(weights: ArrayLike, bound: float, uniforms: ArrayLike) -> NDArray[np.bool_]:
    """Which rows are kept, given b of each, its bound B and a uniform number in [0, 1) for each."""
    b, most = _weights(weights, bound)
    u = finite("uniforms", uniforms)
    if u.shape != b.shape:
        raise DomainError(
            f"{u.size} uniforms were given for {b.size} weights: one per row is needed.", field="uniforms"
        )
    if np.any((u < 0) | (u >= 1)):
        raise DomainError("uniforms must lie in [0, 1).", field="uniforms")
    return u < b / most


def effective_number(weights: ArrayLike, bound: float) -> float:
    """How many of the rows will be kept on average: sum_i b_i / B."""
    b, most = _weights(weights, bound)
    return math.fsum(b / most)


def _weights(weights: ArrayLike, bound: float) -> tuple[Floats, float]:
    b, most = finite("weights", weights), one_number("bound", finite("bound", bound))
    if b.ndim != 1:
        raise DomainError("weights must be a list of one number for each row.", field="weights")
    if most <= 0:
        raise DomainError(f"bound must be above 0, not {shown(most)}.", field="bound")
    if np.any(b < 0):
        raise DomainError(f"weights must not be negative, and one is {shown(b.min())}.", field="weights")
    if np.any(b > most):
        raise DomainError(
            f"weights must be at most bound = {shown(most)}, and one is {shown(b.max())}. The bound is what no weight "
            "can exceed, known without these rows; a larger one may be used for fresh rows.",
            field="weights",
        )
    return b, most
