"""The monitor of the certified mean size: false alarms where sizes are, on average, exactly what was certified."""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.bounds import MeanSupermartingale

_LENGTH = 3000


def simulate(*, runs: int, seed: int, eta: float, excess: float = 1.0) -> list[Tally]:
    """Two kinds of inputs, each member with a promise of its own; both are kept exactly, or exceeded by a factor."""
    rng, found = np.random.default_rng(seed), 0
    for _ in range(runs):
        promised = np.where(rng.random(_LENGTH) < 0.5, 0.2, 0.4)
        large = np.where(rng.random(_LENGTH) < 0.25, 1.6 * rng.beta(2, 2, _LENGTH), 0.0)
        sizes = np.minimum(excess * promised * (0.8 + large), 1.0)
        found += MeanSupermartingale().update_many(sizes, promised).contradicted(eta)
    return [Tally("no alarm", eta, found, runs, promised=excess <= 1)]


FAMILY = Family(
    "size_monitor",
    "monitor",
    "The certified size",
    f"{_LENGTH:,} sets of two members with certified mean sizes of their own, which are, on average, exactly what was "
    "certified; then larger by 5 %.",
    simulate,
    [
        Case(
            f"mean sizes as certified{'' if excess == 1 else ', times 1.05'}", {"eta": eta, "excess": excess}, 2000, 50
        )
        for excess, levels in ((1.0, (0.01, 0.05, 0.2)), (1.05, (0.01,)))
        for eta in levels
    ],
)
