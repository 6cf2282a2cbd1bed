r"""An interval for the live miscoverage that holds at every moment at once.

**Statement.** Let z_1, z_2, ... be 1 for an outcome outside its set and 0 otherwise, each 1 with probability p given
the past. With s misses among t outcomes let

    M_t(p) = B(s + 1/2, t - s + 1/2) / (B(1/2, 1/2) p^s (1 - p)^(t - s)),

B being Euler's Beta function. Then with probability at least 1 - eta, p lies in {q : M_t(q) < 1/eta} for all t >= 1.

*Proof.* M_t(p) is the likelihood ratio of the Beta(1/2, 1/2) mixture against p, and so a non-negative martingale under
p with M_0 = 1; by Ville's inequality it ever reaches 1/eta with probability at most eta. -log of the denominator is
convex in q, so the set is an interval around s/t.
"""

import math
from collections.abc import Callable

from scipy.special import betaln

from certiset.core.bounds.domain import count, open_unit
from certiset.core.bounds.errors import DomainError


def miscoverage_interval(outcomes: int, misses: int, eta: float) -> tuple[float, float]:
    """The lowest and highest miscoverage that the outcomes so far leave standing; (0, 1) before the first one."""
    t, s = int(count("outcomes", outcomes, at_least=0)), int(count("misses", misses, at_least=0))
    if s > t:
        raise DomainError("misses must lie between 0 and the number of outcomes.")
    level = float(open_unit("eta", eta))
    if t == 0:
        return 0.0, 1.0
    mixture = float(betaln(s + 0.5, t - s + 0.5) - betaln(0.5, 0.5)) + math.log(level)

    def excess(q: float) -> float:
        """log(eta M_t(q)): below 0 inside the interval."""
        return mixture - (s * math.log(q) if s else 0.0) - ((t - s) * math.log1p(-q) if t > s else 0.0)

    smallest, largest, middle = 1e-300, 1.0 - 2.0**-53, s / t
    low = _crossing(excess, outside=smallest, inside=middle) if s and excess(smallest) > 0 else 0.0
    high = _crossing(excess, outside=largest, inside=middle) if s < t and excess(largest) > 0 else 1.0
    return low, high


def _crossing(excess: Callable[[float], float], outside: float, inside: float) -> float:
    """Where the excess ends, by bisection down to neighbouring floats or 1e-15; never inside the interval."""
    while abs(outside - inside) > 1e-15:
        middle = 0.5 * (outside + inside)
        if middle in (outside, inside):
            break
        if excess(middle) > 0:
            outside = middle
        else:
            inside = middle
    return outside
