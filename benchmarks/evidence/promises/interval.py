"""The interval for the miscoverage, looked at after every outcome: does it ever exclude the truth?"""

import numpy as np
from scipy.special import betaln

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.bounds import miscoverage_interval

LENGTH = 1000
_CHECKED = 100


def simulate(*, runs: int, seed: int, rate: float, eta: float) -> list[Tally]:
    """By the capital that the interval inverts, and for some histories, at their worst, by the interval itself."""
    missed = np.random.default_rng(seed).random((runs, LENGTH)) < rate
    outcomes = np.arange(LENGTH + 1)
    counts = np.arange(LENGTH + 1)[:, None]
    with np.errstate(invalid="ignore"):
        table = (  # (misses, outcomes); where misses exceed outcomes it means nothing and is never looked up
            betaln(counts + 0.5, outcomes - counts + 0.5)
            - betaln(0.5, 0.5)
            - counts * np.log(rate)
            - (outcomes - counts) * np.log1p(-rate)
        )
    misses = np.cumsum(missed, axis=1)
    capital = table[misses, outcomes[1:]]
    excluded = capital >= -np.log(eta)
    for history in range(min(_CHECKED, runs)):
        worst = int(np.argmax(capital[history]))
        low, high = miscoverage_interval(worst + 1, int(misses[history, worst]), eta)
        assert (low <= rate <= high) == (not excluded[history, worst])
    return [Tally("the interval never excludes the truth", eta, int(excluded.any(axis=1).sum()), runs)]


FAMILY = Family(
    "interval",
    "monitor",
    "The interval for the miscoverage",
    f"Looked at after each of {LENGTH:,} outcomes; it fails if it excludes the true miscoverage at any time.",
    simulate,
    [
        Case(f"miscoverage {rate:g}", {"rate": rate, "eta": eta}, runs=4000, quick_runs=200)
        for rate in (0.02, 0.11, 0.5)
        for eta in (0.05, 0.2)
    ],
)
