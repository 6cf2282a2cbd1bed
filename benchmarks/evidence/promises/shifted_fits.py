"""Whole fits for another population, and for all alpha at once: that rows are chosen as the theorems ask."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from scipy.stats import norm

from benchmarks.evidence.promises.family import Case, Family, Tally
from benchmarks.evidence.promises.fit_tallies import Account, too_much
from certiset.core.bounds import ExhaustedClassError
from certiset.core.fit import fit
from certiset.core.fit.predictor import Predictor
from certiset.core.models import Model
from certiset.core.sets import LabelSets

ALPHA = 0.2
ALPHAS = (0.03, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
_CENTRES = np.array([0.0, 1.0, 3.0])
_LINE = np.linspace(-7, 10, 3401)
_PLAIN: dict[str, Any] = {"method": "standard", "device": "cpu"}
_MODEL = {"name": "line", "task": "classification", "classes": 3, "input_shape": [3], "head": {"kind": "identity"}}


def logits(z: np.ndarray) -> np.ndarray:
    """What the model says of classes that are unit Gaussians around their centres, all equally frequent."""
    return np.asarray(z[:, None] * _CENTRES - _CENTRES**2 / 2)


def weight(z: np.ndarray) -> np.ndarray:
    """More of the middle, where classes overlap; between 0.2 and 1."""
    return np.asarray(0.2 + 0.8 * np.exp(-0.5 * (z - 0.5) ** 2))


def missed(predictor: Predictor, joint: np.ndarray, alpha: float | None = None) -> float:
    """On a population with that joint density (points, classes) on the line."""
    inside = cast(LabelSets, predictor.predict_set(logits(_LINE), alpha=alpha)).mask
    return 1 - float((joint * inside).sum() / joint.sum())


def _joint(prevalences: np.ndarray) -> np.ndarray:
    return np.asarray(prevalences * norm.pdf(_LINE[:, None] - _CENTRES))


def _fits(kind: str, runs: int, rows: int, seed: int, delta: float) -> Iterator[tuple[Predictor | None, np.ndarray]]:
    """Each with the joint density of the population that it is for; None where a class ran out."""
    even, target = np.full(3, 1 / 3), np.array([0.2, 0.6, 0.2])
    model = Model.from_manifest(_MODEL)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        y = rng.integers(3, size=rows)
        z = _CENTRES[y] + rng.normal(size=rows)
        options: dict[str, Any] = {**_PLAIN, "delta": delta, "seed": seed * runs + run, "allow_missing_classes": True}
        joint = _joint(even)
        if kind == "weights":
            options |= {"alpha": ALPHA, "weights": weight(z), "weight_bound": 1.0}
            joint = joint * weight(_LINE)[:, None]
        elif kind == "prevalences":
            options |= {"alpha": ALPHA, "prevalences": target.tolist()}
            joint = _joint(target)
        else:
            options |= {"alpha": "all"}
        try:
            yield fit(model, logits(z), y, **options), joint
        except ExhaustedClassError:
            yield None, joint


def simulate(*, runs: int, seed: int, kind: str, rows: int, delta: float) -> list[Tally]:
    coverage, sizes, exhausted = Account(delta), Account(0.05), Account(0.01)
    for predictor, joint in _fits(kind, runs, rows, seed, delta):
        exhausted.count(predictor is None)
        if predictor is None:
            coverage.count(False)
        elif kind == "all":
            lost = [missed(predictor, joint, alpha) for alpha in ALPHAS]
            coverage.count(any(too_much(found, alpha) for found, alpha in zip(lost, ALPHAS, strict=True)))
            density = joint.sum(axis=1) / joint.sum()
            means = {
                row.alpha: float(density @ predictor.predict_set(logits(_LINE), alpha=row.alpha).size)
                for row in predictor.levels()
                if row.alpha in ALPHAS
            }
            bounds = {row.alpha: row.size_bound for row in predictor.levels()}
            sizes.count(any(mean > (bounds[alpha] or 3.0) + 1e-3 for alpha, mean in means.items()))
        else:
            lost_here = missed(predictor, joint)
            coverage.count(too_much(lost_here, ALPHA), missed=lost_here)
    words = "no alpha is exceeded" if kind == "all" else "at most alpha on the target"
    found = [coverage.tally(words)]
    if kind == "all":
        found.append(sizes.tally("the mean size at every level"))
    if kind == "prevalences":
        found.append(exhausted.tally("no class runs out"))
    return found


_NAMES = {"weights": "known weights", "prevalences": "prevalences", "all": "all alpha at once"}

FAMILY = Family(
    "shifted_fits",
    "population",
    "Whole fits for another population, and for all alpha",
    "Fits with all their steps on logits of three classes on a line, whose density is known for every population: rows "
    f"thinned by known weights, or drawn by prevalences (alpha = {ALPHA:g}), and one certificate for all alpha, of "
    f"which {len(ALPHAS)} are looked at.",
    simulate,
    [
        Case(
            f"{_NAMES[kind]}, {rows} rows",
            {"kind": kind, "rows": rows, "delta": delta},
            runs=400,
            quick_runs=3,
            parts=4,
        )
        for kind, rows in (("weights", 400), ("prevalences", 400), ("all", 200))
        for delta in (0.05, 0.2)
    ],
)
