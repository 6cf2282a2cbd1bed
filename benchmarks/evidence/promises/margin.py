"""How many broken runs chance explains where a promise may be broken with a given probability."""

from scipy.stats import binom

CHANCE = 1e-3
"""with which a promise that is just kept is called broken here"""


def most_broken(runs: int, level: float) -> int:
    """The largest count that a probability of ``level`` explains."""
    return int(binom.ppf(1 - CHANCE, runs, level))


def within_margin(broken: int, runs: int, level: float) -> bool:
    return broken <= most_broken(runs, level)


def p_value(broken: int, runs: int, level: float) -> float:
    """The probability of so many or more, if each run is broken with a probability of ``level``."""
    return float(binom.sf(broken - 1, runs, level))
