"""Scores on seven values, with ties broken by a keyed hash: exact where ties that stay together are conservative."""

import numpy as np
import torch

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.bounds import vovk_2b
from certiset.core.fit.hashed_ties import HashedTies
from certiset.core.fit.rows import Rows

_VALUES = 7
_CLASSES = 3
_PLACES = {"in the middle of cells": 0.0, "at their edges": 0.5}


def simulate(*, runs: int, seed: int, n: int, alpha: float, delta: float, place: str, noise: float) -> list[Tally]:
    """Scores are off by half of ``noise`` cells, at random on D_N and upwards where sets are served."""
    rank, rng = int(vovk_2b(n, alpha, delta)), np.random.default_rng(seed)
    broken, missed = 0, 0.0
    for run in range(runs):
        ties = HashedTies.of_fit(seed * runs + run, torch.float64)
        x = rng.normal(size=(n, 2))
        y = torch.from_numpy(rng.integers(_CLASSES, size=n))
        rows = Rows(torch.zeros(n, 1), torch.zeros(n, _CLASSES), y, ties.digests(x, torch.float64))
        values = rng.integers(_VALUES, size=n) + _PLACES[place]
        scores = torch.from_numpy((values + noise / 2 * rng.uniform(-1, 1, n)) * ties.width)
        found = ties.threshold(scores, rows, rank)
        assert found.tie is not None
        lost = _missed(ties, float(found.tau) + noise * ties.width, float(found.tie), _PLACES[place] + noise / 2)
        broken += lost > alpha + 1e-12
        missed += lost / runs
    return [Tally("at most alpha is missed", delta, broken, runs, facts={"missed": missed})]


def _missed(ties: HashedTies, tau: float, tie: float, offset: float) -> float:
    """P(not let in), exactly: all values are as likely, and hashes are uniform."""
    served = (np.arange(_VALUES) + offset) * ties.width
    let_in = np.where(served <= tau - ties.width, 1.0, np.where(served <= tau, tie, 0.0))
    return 1 - float(let_in.mean())


FAMILY = Family(
    "ties",
    "coverage",
    "Ties that are broken by a hash",
    f"Scores on {_VALUES} equally likely values, of rows that are all different, with the threshold and the hash of "
    '`ties: "hash"`, a new key in every run. Thresholds that let ties in together miss far less than they may (above); '
    "these are exact. Where values lie at the edges of cells and rounding tears them apart, they are not exact, but "
    "keep the promise.",
    simulate,
    [
        Case(
            f"n = {n}, values {place}{', scores off by rounding' if noise else ''}",
            {"n": n, "alpha": alpha, "delta": delta, "place": place, "noise": noise},
            runs=20_000,
            quick_runs=500,
        )
        for n, alpha, place, noise in (
            (60, 0.1, "in the middle of cells", 0.0),
            (500, 0.28, "in the middle of cells", 0.0),
            (500, 0.28, "in the middle of cells", 0.05),
            (500, 0.28, "at their edges", 0.05),
        )
        for delta in (0.05, 0.2)
    ],
)
