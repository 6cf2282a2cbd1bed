"""Honest rows of many kinds: how often are they taken for copies of each other?"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.data.similar_rows import find_similar_rows

Make = Callable[[np.random.Generator], NDArray[Any]]
LEVEL = 0.01
"""no share is promised; the same as for a caveat about the order"""


def letters(rng: np.random.Generator, rows: int = 1000) -> NDArray[Any]:
    """16 whole numbers from 0 to 15 that depend on a class, as in tables of letters: some rows come up twice."""
    means = np.random.default_rng(1).integers(3, 12, size=(26, 16))
    return np.clip(np.round(means[rng.integers(26, size=rows)] + 0.5 * rng.normal(size=(rows, 16))), 0, 15)


def images(rng: np.random.Generator) -> NDArray[Any]:
    """Mostly black, in 256 shades, like handwritten digits."""
    return np.where(rng.random((300, 1, 28, 28)) < 0.2, rng.integers(256, size=(300, 1, 28, 28)), 0).astype(np.uint8)


HONEST: dict[str, Make] = {
    "one column": lambda rng: rng.normal(size=(1000, 1)),
    "five columns": lambda rng: rng.normal(size=(1000, 5)),
    "many columns": lambda rng: rng.normal(size=(500, 100)).astype(np.float32),
    "few rows": lambda rng: rng.normal(size=(60, 3)),
    "heavy tails": lambda rng: rng.standard_cauchy((1000, 3)),
    "tight classes": lambda rng: np.eye(10)[rng.integers(10, size=1000)] + 0.01 * rng.normal(size=(1000, 10)),
    "letters": letters,
    "images": images,
    "few categories": lambda rng: np.stack([rng.integers(k, size=1000) for k in (2, 3, 5)], 1),
    "binary columns": lambda rng: rng.integers(2, size=(1000, 8)),
    "rare categories": lambda rng: np.minimum(rng.geometric(0.4, size=(1000, 4)), 8),
    "one category": lambda rng: rng.integers(100, size=(1000, 1)),
    "rounded numbers": lambda rng: np.round(rng.normal(37, 1, size=(1000, 1)), 1),
    "rounded rows": lambda rng: np.round(rng.normal(3, 0.5, size=(150, 4)), 1),
    "categories and a number": lambda rng: np.column_stack([rng.integers(2, size=(500, 6)), rng.normal(size=500)]),
    "rainfall": lambda rng: np.column_stack(
        [rng.integers(3, size=(1000, 2)), np.where(rng.random(1000) < 0.7, 0, rng.exponential(size=1000))]
    ),
    "rainfall alone": lambda rng: np.where(rng.random((1000, 1)) < 0.7, 0, rng.exponential(size=(1000, 1))),
    "constant columns": lambda rng: np.column_stack([np.ones((200, 2)), rng.normal(size=200)]),
}
"""independent draws, from laws with and without equal rows"""


def simulate(*, runs: int, seed: int, kind: str) -> list[Tally]:
    rng, equal, near, either = np.random.default_rng(seed), 0, 0, 0
    for _ in range(runs):
        found = find_similar_rows(HONEST[kind](rng))
        equal, near, either = (
            equal + (found.equal > 0),
            near + (found.near > 0),
            either + (found.equal + found.near > 0),
        )
    facts = {"equal": equal / runs, "near": near / runs}
    return [Tally("no caveat about equal or nearly equal rows", LEVEL, either, runs, facts=facts)]


FAMILY = Family(
    "copies",
    "caveats",
    "Equal and nearly equal rows",
    f"Independent rows of many kinds, so that a caveat about copies is a false one. No share is promised; {LEVEL:g} is "
    "taken as what one would put up with.",
    simulate,
    [Case(kind, {"kind": kind}, runs=100 if kind == "images" else 500, quick_runs=2) for kind in HONEST],
)
