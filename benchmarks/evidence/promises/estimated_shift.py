"""A shift of the inputs whose weights are estimated from inputs alone: nothing is promised, and this is what comes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.score_world import Array
from certiset.core.bounds import smallest_n_2b, thinning, vovk_2b
from certiset.core.fit.density_ratio import DensityRatio
from certiset.core.fit.target_rows import training_rows

ALPHA = 0.1
_NODES = (np.arange(2000) + 0.5) / 2000 * 20 - 10


@dataclass(frozen=True)
class Shift:
    """Inputs are standard normal; those of the target are normal with another mean and deviation."""

    mean: float
    deviation: float
    scale: Callable[[Array], Array]
    """of the score, a normal number's size times this, which depends on x"""

    def missed(self, tau: float) -> float:
        """By the threshold, on the target."""
        density = np.exp(-0.5 * ((_NODES - self.mean) / self.deviation) ** 2)
        return float(np.average(2 * ndtr(-tau / self.scale(_NODES)), weights=density))


def _growing(x: Array) -> Array:
    return np.asarray(np.exp(0.5 * x))


SHIFTS = {
    "the mean moves by half a deviation": Shift(0.5, 1.0, _growing),
    "the mean moves by a deviation": Shift(1.0, 1.0, _growing),
    "the mean moves by a deviation and a half": Shift(1.5, 1.0, _growing),
    "the deviation halves, which the classifier cannot see": Shift(0.0, 0.5, lambda x: np.exp(-0.5 * np.abs(x))),
    "no shift": Shift(0.0, 1.0, _growing),
}


def simulate(
    *, runs: int, seed: int, shift: str, rows: int, target: int, delta: float, estimated: bool = True
) -> list[Tally]:
    law, rng, ranks = SHIFTS[shift], np.random.default_rng(seed), dict[int, int]()
    made = broken = 0
    missed = kept_rows = 0.0
    for run in range(runs):
        x = rng.normal(size=rows)
        scores = law.scale(x) * np.abs(rng.normal(size=rows))
        if estimated:
            training, others = training_rows(rows, seed + run)
            inputs = law.mean + law.deviation * rng.normal(size=(target, 1))
            ratio = DensityRatio.trained(x[training, None], inputs)
            weights = ratio.of(x[others, None])
            scores = scores[others][thinning(weights, ratio.bound, rng.random(len(others)))]
        n = scores.size
        if n < smallest_n_2b(ALPHA, delta):
            continue
        if n not in ranks:
            ranks[n] = int(vovk_2b(n, ALPHA, delta))
        found = law.missed(float(np.partition(scores, n - ranks[n])[n - ranks[n]]))
        made, broken, missed, kept_rows = made + 1, broken + (found > ALPHA), missed + found, kept_rows + n
    facts = {"missed": missed / max(made, 1), "kept": kept_rows / max(made, 1)}
    return [Tally("at most alpha on the target", delta, broken, made, promised=False, facts=facts)]


FAMILY = Family(
    "estimated_shift",
    "population",
    "Inputs with estimated weights",
    f"Normal inputs, whose scores grow with them, and target inputs that are normal, too (alpha = {ALPHA:g}). Weights "
    "are estimated by logistic regression from three tenths of the rows and all target inputs, and clipped. They are "
    "an assumption: what is said is what was measured, beside all rows as they are.",
    simulate,
    [
        Case(
            f"{shift}, {rows:,} rows, {target:,} target inputs{'' if estimated else ', **all** rows as they are'}",
            {"shift": shift, "rows": rows, "target": target, "delta": 0.05, "estimated": estimated},
            runs=20_000 if estimated else 2000,
            quick_runs=50,
            parts=4 if estimated else 1,
        )
        for shift, rows, target, estimated in (
            ("the mean moves by half a deviation", 1000, 500, True),
            ("the mean moves by half a deviation", 5000, 2000, True),
            ("the mean moves by a deviation", 1000, 500, True),
            ("the mean moves by a deviation", 5000, 2000, True),
            ("the mean moves by a deviation and a half", 5000, 2000, True),
            ("the deviation halves, which the classifier cannot see", 1000, 500, True),
            ("no shift", 1000, 500, True),
            ("the mean moves by half a deviation", 1000, 500, False),
            ("the mean moves by a deviation", 1000, 500, False),
        )
    ],
)
