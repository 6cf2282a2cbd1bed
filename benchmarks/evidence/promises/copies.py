"""Honest rows of many kinds: how often are they taken for copies of each other?"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.data.similar_rows import find_similar_rows

Make = Callable[[np.random.Generator], NDArray[Any]]
WithTruths = Callable[[np.random.Generator], tuple[NDArray[Any], NDArray[Any]]]
LEVEL = 0.01
"""no share is promised; the same as for a caveat about the order"""


def letters(rng: np.random.Generator, rows: int = 1000) -> NDArray[Any]:
    """16 whole numbers from 0 to 15 that depend on a class, as in tables of letters: some rows come up twice."""
    means = np.random.default_rng(1).integers(3, 12, size=(26, 16))
    return np.clip(np.round(means[rng.integers(26, size=rows)] + 0.5 * rng.normal(size=(rows, 16))), 0, 15)


def images(rng: np.random.Generator) -> NDArray[Any]:
    """Mostly black, in 256 shades, like handwritten digits."""
    return np.where(rng.random((300, 1, 28, 28)) < 0.2, rng.integers(256, size=(300, 1, 28, 28)), 0).astype(np.uint8)


def products(rng: np.random.Generator, kinds: int = 6, columns: int = 5, rows: int = 1000) -> NDArray[Any]:
    """Whole numbers and all products of two of them, so that one respect in which rows differ is many columns."""
    factors = rng.integers(kinds, size=(rows, columns))
    return np.concatenate([factors, *(factors[:, [place]] * factors[:, place:] for place in range(columns))], axis=1)


def codes(rng: np.random.Generator) -> NDArray[Any]:
    """Six categories, each as columns of zeros and a one: rows differ in two columns or more."""
    return np.concatenate([np.eye(kinds)[rng.integers(kinds, size=1000)] for kinds in (6, 8, 5, 7, 9, 4)], axis=1)


def census(rng: np.random.Generator, rows: int = 2000) -> NDArray[Any]:
    gains = np.where(rng.random(rows) < 0.9, 0, rng.integers(100, 99_999, size=rows))
    hours = np.where(rng.random(rows) < 0.5, 40, rng.integers(10, 80, size=rows))
    others = [rng.integers(kinds, size=rows) for kinds in (63, 15, 2, 5, 14)]
    return np.stack([gains, hours, *others], axis=1)


def answers(rng: np.random.Generator) -> NDArray[Any]:
    """Twenty questions with five answers each; a tenth of the people gives the same answer to all of them."""
    each = np.clip(np.round(3 + rng.normal(size=(1000, 1)) + 0.7 * rng.normal(size=(1000, 20))), 1, 5)
    lazy = rng.random(1000) < 0.1
    each[lazy] = rng.integers(1, 6, size=(lazy.sum(), 1))
    return each


def words(rng: np.random.Generator) -> NDArray[Any]:
    """How often each word occurs in short messages, some of which are common."""
    chances = 1 / np.arange(1, 401)
    lengths = rng.geometric(0.35, size=1000)
    counted = np.zeros((1000, 400), dtype=np.int16)
    said = rng.choice(400, size=lengths.sum(), p=chances / chances.sum())
    np.add.at(counted, (np.repeat(np.arange(1000), lengths), said), 1)
    return counted


def popular_goods(rng: np.random.Generator) -> NDArray[Any]:
    """A list of goods with twelve figures each, some asked for far more often than others."""
    chances = 1 / np.arange(1, 5001)
    goods = np.random.default_rng(5).integers(100, size=(5000, 12))
    return goods[rng.choice(5000, size=1000, p=chances / chances.sum())]


def goods_with_truths(rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """A list of goods that are all asked for alike: equal rows, but with truths of their own."""
    goods = np.random.default_rng(5).integers(100, size=(5000, 12))
    chosen = rng.integers(5000, size=1000)
    return goods[chosen], (goods[chosen, 0] > 50) ^ (rng.random(1000) < 0.15)


def readings_with_truths(rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Settings of a machine that are tried several times, with a measured number each."""
    settings = np.random.default_rng(6).integers(100, size=(300, 8))[rng.integers(300, size=1000)]
    return settings, settings[:, 0] + rng.normal(size=1000)


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
    "dice": lambda rng: rng.integers(6, size=(500, 4)),
    "codes of categories": codes,
    "products of whole numbers": products,
    "counts": lambda rng: rng.poisson(3, size=(1000, 6)),
    "census": census,
    "answers": answers,
    "words": words,
    "popular goods": popular_goods,
}
"""independent draws, from laws with and without equal rows"""
HONEST_WITH_TRUTHS: dict[str, WithTruths] = {
    "goods and truths": goods_with_truths,
    "settings and measurements": readings_with_truths,
}


def honest(kind: str, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any] | None]:
    return HONEST_WITH_TRUTHS[kind](rng) if kind in HONEST_WITH_TRUTHS else (HONEST[kind](rng), None)


def simulate(*, runs: int, seed: int, kind: str) -> list[Tally]:
    rng, equal, near, either = np.random.default_rng(seed), 0, 0, 0
    for _ in range(runs):
        found = find_similar_rows(*honest(kind, rng))
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
    [
        Case(kind, {"kind": kind}, runs=100 if kind == "images" else 500, quick_runs=2)
        for kind in (*HONEST, *HONEST_WITH_TRUTHS)
    ],
)
