"""A known shift of the inputs: rows are thinned by their weights, and coverage is promised on the target."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import Array, batches
from certiset.core.bounds import effective_number, smallest_n_2b, thinning, vovk_2b

ROWS, ALPHA = 1000, 0.1
_BATCH = 500


@dataclass(frozen=True)
class Shift:
    """Inputs x are uniform; the target has density ``weights`` times a constant."""

    weights: Callable[[Array], Array]
    bound: float | None
    """None: the largest weight seen, which is no bound"""
    score: Callable[[Array, Array], Array]
    """of x and a uniform number"""
    missed: Callable[[float], float]
    """by a threshold, on the target"""


def _harder(tau: float) -> float:
    """x U > tau where x has density 2 x: the integral of 2 x (1 - tau / x) from tau on."""
    return (1 - tau) ** 2


def _hardest(tau: float) -> float:
    """x U > tau where x is uniform on (0.8, 1)."""
    start = max(tau, 0.8)
    return 5 * (1 - start + tau * float(np.log(start)))


SHIFTS = {
    "hard inputs are more frequent": Shift(lambda x: 2 * x, 2.0, lambda x, u: x * u, _harder),
    "the same, weights up to a factor and a loose bound": Shift(lambda x: 0.1 * x, 0.2, lambda x, u: x * u, _harder),
    "hard inputs alone": Shift(lambda x: np.where(x > 0.8, 5.0, 0.0), 5.0, lambda x, u: x * u, _hardest),
    # The target is that of V^10, V uniform: P(1 / x > tau) = tau^-0.1.
    "**unbounded** weights, the largest seen as the bound": Shift(
        lambda x: 0.1 * x**-0.9, None, lambda x, u: 1 / x, lambda tau: tau**-0.1
    ),
}


def simulate(*, runs: int, seed: int, shift: str, delta: float, thinned: bool = True) -> list[Tally]:
    law, rng, ranks = SHIFTS[shift], np.random.default_rng(seed), dict[int, int]()
    made = broken = 0
    missed = number = 0.0
    for calibrations in batches(runs, _BATCH):
        x = 1 - rng.random((calibrations, ROWS))
        scores, weights = law.score(x, rng.random(x.shape)), law.weights(x)
        for s, b in zip(scores, weights, strict=True):
            bound = law.bound if law.bound is not None else float(b.max())
            kept = s[thinning(b, bound, rng.random(ROWS))] if thinned else s
            if kept.size < smallest_n_2b(ALPHA, delta):
                continue
            if kept.size not in ranks:
                ranks[kept.size] = int(vovk_2b(kept.size, ALPHA, delta))
            place = kept.size - ranks[kept.size]
            found = law.missed(float(np.partition(kept, place)[place]))
            made, broken = made + 1, broken + (found > ALPHA)
            missed, number = missed + found, number + effective_number(b, bound)
    facts = {"missed": missed / max(made, 1), "effective": number / max(made, 1)}
    promised = thinned and law.bound is not None
    return [Tally("at most alpha on the target", delta, broken, made, promised=promised, facts=facts)]


FAMILY = Family(
    "covariate_shift",
    "population",
    "Inputs with known weights",
    f"{ROWS:,} rows with uniform inputs, alpha = {ALPHA:g}; on the target inputs have another density, which is known. "
    "Rows are kept in proportion to it, and what the threshold misses on the target is known exactly. For comparison "
    "all rows as they are, and weights without a bound, for which the largest one seen was taken.",
    simulate,
    [
        Case(
            f"{shift}{'' if thinned else ', **all** rows as they are'}",
            {"shift": shift, "delta": delta, "thinned": thinned},
            runs=20_000 if SHIFTS[shift].bound is not None else 2000,
            quick_runs=200,
        )
        for shift, thinned in (*((shift, True) for shift in SHIFTS), ("hard inputs are more frequent", False))
        for delta in (0.05, 0.2)
    ],
)
