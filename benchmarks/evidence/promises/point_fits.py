"""Whole fits by the methods `standard` and `learned`, on tiny problems: coverage, and what is said about sizes."""

from typing import Any

from benchmarks.evidence.promises.family import Family, Tally
from benchmarks.evidence.promises.fit_tallies import (
    ALPHA,
    Account,
    fit_case,
    fits,
    mean_size_broken,
    missed,
    quantile_broken,
    too_much,
)
from benchmarks.evidence.promises.tiny_problems import PROBLEMS

QUICK_TUNING = {"steps": 15, "objective": "proper"}


def simulate(*, runs: int, seed: int, problem: str, rows: int, delta: float, options: dict[str, Any]) -> list[Tally]:
    """Fits through the whole of `fit`; gamma is delta."""
    coverage, mean, quantile = Account(delta), Account(delta), Account(delta)
    for predictor in fits(problem, rows, runs, seed, {"delta": delta, "gamma": delta, **options}):
        (lost,) = missed(problem, predictor)
        coverage.count(too_much(lost, ALPHA), missed=lost)
        efficiency = predictor.certificate.efficiency
        if efficiency.upper_bound is not None and efficiency.bound != "exact":
            mean.count(mean_size_broken(PROBLEMS[problem](), predictor))
        if efficiency.quantile is not None:
            quantile.count(quantile_broken(PROBLEMS[problem](), predictor))
    found = [coverage.tally("at most alpha is missed"), mean.tally("mean size"), quantile.tally("quantile of the size")]
    return [tally for tally in found if tally.made]


FAMILY = Family(
    "point_fits",
    "coverage",
    "Whole fits: `standard` and `learned`",
    f"Fits with all their steps on tiny problems (alpha = {ALPHA:g}, gamma = delta), whose true coverage and sizes are "
    "computed from the law of the data: a sensor with an unknown gain and offset, noise that grows with x and needs a "
    "learned scale, three classes with a network of 16 units, logits of four classes that are shifted.",
    simulate,
    [
        fit_case(f"{method}, {problem}", problem, rows, delta, runs, {"method": method, **options})
        for method, problem, rows, runs, options in (
            ("standard", "sensor", 150, 1000, {"score": "residual"}),
            ("standard", "logits", 150, 1000, {}),
            ("learned", "sensor", 200, 1000, {"score": "residual", "prior": QUICK_TUNING}),
            ("learned", "growing noise", 200, 400, {"prior": QUICK_TUNING}),
            ("learned", "classes", 200, 500, {"prior": QUICK_TUNING}),
        )
        for delta in (0.05, 0.2)
    ],
)
