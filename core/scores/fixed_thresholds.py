"""Thresholds that need no data: dense where those of usual models are, and far-reaching."""

import math

_STEPS_PER_UNIT = 4
_LEAST, _MOST = -10, 20
_FACTOR = 1.1
_FARTHEST = 5000.0
_OCTAVES, _STEPS_PER_OCTAVE = 10, 8


def log_odds() -> list[float]:
    """Against a label: a quarter apart from p = 0.99995 down to 2e-9, then growing by a tenth, up to those of logits
    of thousands."""
    odds = [part / _STEPS_PER_UNIT for part in range(_LEAST * _STEPS_PER_UNIT, _MOST * _STEPS_PER_UNIT + 1)]
    while odds[-1] < _FARTHEST:
        odds.append(_FACTOR * odds[-1])
    return odds


def log_probabilities() -> list[float]:
    """-log p at these odds: log(1 + e^odds)."""
    return [max(odds, 0.0) + math.log1p(math.exp(-abs(odds))) for odds in log_odds()]


def totals() -> list[float]:
    """1 - p at these odds, up to 1."""
    return sorted({1.0 / (1.0 + math.exp(-odds)) for odds in log_odds() if odds <= _MOST} | {1.0})


def within(reach: float) -> list[float]:
    """From -reach to reach, with 0, dense near it."""
    sizes = [reach * 2.0 ** (-part / _STEPS_PER_OCTAVE) for part in range(_OCTAVES * _STEPS_PER_OCTAVE + 1)]
    return [*(-size for size in sizes), 0.0, *reversed(sizes)]
