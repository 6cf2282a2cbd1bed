r"""Watching a certificate in production: capital that grows only if the promise is broken.

**Statement.** Let z_t = 1 if the t-th outcome fell outside its set, and suppose that, given the past, z_t is 1 with
probability at most alpha. For any fixed lambda in [0, 1/alpha), W_t = prod_s (1 + lambda (z_s - alpha)) is a
non-negative supermartingale starting at 1, and so is any average of such over several lambdas. Hence
P(W_t >= 1/eta for some t) <= eta: a certificate may be watched after every outcome, for ever, and is contradicted
at level eta the first time its capital reaches 1/eta.

*Proof.* E[1 + lambda (z_t - alpha) | past] <= 1 and each factor is positive because lambda alpha < 1. Averages of
supermartingales are supermartingales. The last part is Ville's inequality.

With lambda fixed, W depends on the past only through the counts of outcomes and of misses, so that is all the state
there is, and a long run of outcomes costs one cumulative sum.

``alpha`` is the level that was promised for what is really served. Under the guarantee of every draw that is the
certificate's alpha; under the guarantee of the mean over the posterior it is the bound for the realised pool.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from certiset.core.bounds.domain import Floats, count, finite, open_unit, real
from certiset.core.bounds.errors import DomainError

STAKES = tuple(2.0**-i for i in range(1, 11))
"""lambda * alpha: the share of the capital lost on each covered outcome, from one half down to a thousandth."""


@dataclass(frozen=True)
class Supermartingale:
    """The capital of a gambler who bets that the miscoverage is above ``alpha``; `update` returns the next state."""

    alpha: float
    """the promised miscoverage"""
    stakes: tuple[float, ...] = STAKES
    """lambda * alpha in (0, 1) for each strategy; the capital is the mean over strategies"""
    outcomes: int = 0
    """how many outcomes were seen"""
    misses: int = 0
    """how many of them were not in their set"""
    log_peak: float = 0.0
    """the logarithm of the largest capital so far, which decides whether the certificate was ever contradicted"""

    def __post_init__(self) -> None:
        alpha, stakes = open_unit("alpha", self.alpha), open_unit("stakes", self.stakes)
        if alpha.ndim != 0:
            raise DomainError("alpha must be one number.")
        if stakes.ndim != 1 or stakes.size == 0:
            raise DomainError("stakes must be a list that names at least one strategy.")
        outcomes, misses = (int(count(name, getattr(self, name), at_least=0)) for name in ("outcomes", "misses"))
        if misses > outcomes:
            raise DomainError("misses must lie between 0 and the number of outcomes.")
        object.__setattr__(self, "alpha", float(alpha))
        object.__setattr__(self, "stakes", tuple(stakes.tolist()))
        # A state restored from its counts alone has reached at least the capital that they imply.
        peak = max(float(finite("log_peak", self.log_peak)), 0.0, self.log_capital)
        object.__setattr__(self, "log_peak", peak)

    @property
    def log_capital(self) -> float:
        """log W_t now."""
        return float(self._log_capital(np.array([self.outcomes]), np.array([self.misses]))[0])

    def contradicted(self, eta: float) -> bool:
        """Whether the capital ever reached 1 / eta: if the promise held, the chance of that is at most eta."""
        level = open_unit("eta", eta)
        if level.ndim != 0:
            raise DomainError("eta must be one number.")
        return self.log_peak >= -float(np.log(level))

    def update(self, missed: bool | int) -> "Supermartingale":
        """The state after one more outcome."""
        return self.update_many([missed])

    def update_many(self, missed: ArrayLike | Iterable[bool]) -> "Supermartingale":
        """The state after these outcomes, in this order: the same as feeding them one at a time."""
        flags = _flags(missed)
        if flags.size == 0:
            return self
        return replace(
            self,
            outcomes=self.outcomes + flags.size,
            misses=self.misses + int(flags.sum()),
            log_peak=max(self.log_peak, float(self.path(flags).max())),
        )

    def path(self, missed: ArrayLike | Iterable[bool]) -> Floats:
        """log W after each of these outcomes, continuing from here."""
        flags = _flags(missed)
        return self._log_capital(
            self.outcomes + np.arange(1, flags.size + 1), self.misses + np.cumsum(flags, dtype=np.int64)
        )

    def _log_capital(self, outcomes: np.ndarray, misses: np.ndarray) -> Floats:
        stakes = np.asarray(self.stakes)
        win = np.log1p(stakes * (1 / self.alpha - 1))  # (strategies,)
        lose = np.log1p(-stakes)
        logs = misses[:, None] * win + (outcomes - misses)[:, None] * lose  # (outcomes, strategies)
        return np.asarray(logsumexp(logs, axis=1) - np.log(stakes.size))


def _flags(missed: ArrayLike | Iterable[bool]) -> Floats:
    rule = "missed must be a list of 0 (covered) and 1 (missed)."
    if not isinstance(missed, Iterable):
        raise DomainError(rule)
    values: Any = missed if isinstance(missed, np.ndarray) else list(missed)
    flags = real("missed", values)
    if flags.ndim != 1 or np.any((flags != 0) & (flags != 1)):
        raise DomainError(rule)
    return flags
