"""The monitor: false alarms where misses are exactly as frequent as promised, and alarms where they are not."""

from collections.abc import Callable

import numpy as np

from benchmarks.evidence.promises.alarms import Flags, alarms, first_of_each
from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import batches

ALPHA = 0.1
FEW_INPUTS = np.repeat([0.09, 0.1 / 300], [10, 300])
"""how often each of 310 possible inputs is asked"""
FEW_RATES = np.repeat([0.01, 0.91], [10, 300])
"""how often it is missed: the frequent ones rarely, the rare ones often, and alpha of all of them"""
_BATCH = 200
Streams = Callable[[np.random.Generator, int, int], list[Flags]]


def _exactly(rng: np.random.Generator, streams: int, length: int) -> list[Flags]:
    return list(rng.random((streams, length), dtype=np.float32) < np.float32(ALPHA))


def _drifting(rng: np.random.Generator, streams: int, length: int) -> list[Flags]:
    chances = ALPHA * (0.75 + 0.25 * np.sin(np.arange(length) / 500))
    return list(rng.random((streams, length), dtype=np.float32) < chances.astype(np.float32))


def _five_times(rng: np.random.Generator, streams: int, length: int, *, once: bool) -> list[Flags]:
    """Each input is asked and reported five times in a row: its outcome is one event."""
    names = np.repeat(np.arange(length // 5), 5)
    found = [row[names] for row in _exactly(rng, streams, length // 5)]
    return [first_of_each(names, row) for row in found] if once else found


def _named_cases(rng: np.random.Generator, streams: int, length: int, *, once: bool) -> list[Flags]:
    """Cases are asked as often as they like, in any order; a hard one is missed at 0.91, any other at 0.01."""
    found = []
    for _ in range(streams):
        names = rng.integers(length // 4, size=length)
        rates = np.where(rng.random(length // 4) < 0.1, 0.91, 0.01)
        missed = rng.random(length) < rates[names]
        found.append(first_of_each(names, missed) if once else missed)
    return found


def _few_inputs(rng: np.random.Generator, streams: int, length: int, *, once: bool) -> list[Flags]:
    edges = np.cumsum(FEW_INPUTS)
    found = []
    for _ in range(streams):
        asked = np.minimum(np.searchsorted(edges, rng.random(length), side="right"), len(edges) - 1)
        missed = rng.random(length) < FEW_RATES[asked]
        found.append(first_of_each(asked, missed) if once else missed)
    return found


def _worse(rng: np.random.Generator, streams: int, length: int, *, factor: float) -> list[Flags]:
    return list(rng.random((streams, length), dtype=np.float32) < np.float32(factor * ALPHA))


STREAMS: dict[str, tuple[Streams, bool]] = {
    "always alpha": (_exactly, True),
    "drifting, at most alpha": (_drifting, True),
    "each input asked five times, counted once": (lambda *given: _five_times(*given, once=True), True),
    "each input asked five times, **every** question counted": (lambda *given: _five_times(*given, once=False), False),
    "named cases, asked as often as they like, counted once": (lambda *given: _named_cases(*given, once=True), True),
    "named cases, **every** question counted": (lambda *given: _named_cases(*given, once=False), False),
    "310 possible inputs, every question counted": (lambda *given: _few_inputs(*given, once=False), True),
    "310 possible inputs, counted **once** an input": (lambda *given: _few_inputs(*given, once=True), False),
    "really missed: 1.1 alpha": (lambda *given: _worse(*given, factor=1.1), False),
    "really missed: 1.3 alpha": (lambda *given: _worse(*given, factor=1.3), False),
    "really missed: 2 alpha": (lambda *given: _worse(*given, factor=2.0), False),
}
"""by what is asked: outcomes as they count, and whether eta is promised for them"""


def simulate(*, runs: int, seed: int, streams: str, length: int, eta: float) -> list[Tally]:
    make, promised = STREAMS[streams]
    rng, found = np.random.default_rng(seed), 0
    for size in batches(runs, _BATCH):
        made = make(rng, size, length)
        longest = max(map(len, made))
        # Behind the end of a shorter stream nothing is missed, so that it raises no alarm there.
        padded = np.zeros((size, longest), dtype=bool)
        for place, row in enumerate(made):
            padded[place, : len(row)] = row
        found += alarms(padded, ALPHA, eta)
    return [Tally("no alarm", eta, found, runs, promised=promised)]


def _cases() -> list[Case]:
    found = []
    for name, (_, promised) in STREAMS.items():
        for eta in (0.01, 0.05, 0.2) if promised else (0.01,):
            length = 10_000 if name in ("always alpha", "drifting, at most alpha") or "really" in name else 2500
            length = 5000 if "310" in name else length
            runs = 4000 if promised else 1000
            found.append(
                Case(f"{name}, {length:,} questions", {"streams": name, "length": length, "eta": eta}, runs, 100)
            )
    return found


FAMILY = Family(
    "monitor",
    "monitor",
    "False alarms, and alarms",
    f"Streams of outcomes that are missed with probability alpha = {ALPHA:g}, exactly, each watched after every "
    "outcome. A certificate that holds is contradicted with probability at most eta. Counting in other ways than the "
    "service does, and promises that are really broken, stand below for comparison.",
    simulate,
    _cases(),
)
