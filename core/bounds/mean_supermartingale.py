r"""Watching a certified mean in production: capital that grows only if sizes are larger than was promised.

**Statement.** Let e_t in [0, 1] have, given the past, a mean of at most m_t, which is known before e_t is seen. For any
fixed stake s in (0, 1), W_t = prod_s (1 + s (e_s / m_s - 1)) is a non-negative supermartingale starting at 1, and so is
any average of such over several stakes. Hence P(W_t >= 1/eta for some t) <= eta.

*Proof.* E[1 + s (e_t / m_t - 1) | past] <= 1, and each factor is at least 1 - s > 0. Averages of supermartingales are
supermartingales. The last part is Ville's inequality.

With outcomes that miss or not, e is 0 or 1 and m = alpha: `certiset.core.bounds.supermartingale`, which needs the
counts alone. Here the logarithm of each stake's capital is the state.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from certiset.core.bounds.domain import open_unit, real
from certiset.core.bounds.errors import DomainError
from certiset.core.bounds.supermartingale import STAKES


@dataclass(frozen=True)
class MeanSupermartingale:
    """The capital of a gambler who bets that means are larger than promised; `update_many` returns the next state."""

    log_capitals: tuple[float, ...] = (0.0,) * len(STAKES)
    """of each of the `STAKES`"""
    log_peak: float = 0.0
    """the logarithm of the largest capital so far"""

    @property
    def log_capital(self) -> float:
        return float(logsumexp(self.log_capitals) - np.log(len(STAKES)))

    def contradicted(self, eta: float) -> bool:
        """Whether the capital ever reached 1 / eta: if what was promised held, the chance of that is at most eta."""
        return self.log_peak >= -float(np.log(float(open_unit("eta", eta))))

    def update_many(self, values: ArrayLike, promised: ArrayLike) -> "MeanSupermartingale":
        """The state after these values, in this order; ``promised`` is the mean of each, as it was known before."""
        e, m = real("values", np.asarray(values)), real("promised", np.asarray(promised))
        if e.ndim != 1 or m.shape != e.shape or np.any((e < 0) | (e > 1)) or np.any(m <= 0):
            raise DomainError("values must lie in [0, 1], with one promised mean above 0 for each.")
        if e.size == 0:
            return self
        steps = np.log1p(np.asarray(STAKES)[:, None] * (e / m - 1))  # (stakes, values)
        logs = np.asarray(self.log_capitals)[:, None] + np.cumsum(steps, axis=1)
        path = logsumexp(logs, axis=0) - np.log(len(STAKES))
        return replace(self, log_capitals=tuple(logs[:, -1].tolist()), log_peak=max(self.log_peak, float(path.max())))
