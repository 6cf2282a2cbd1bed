"""Whole fits by the methods `auto` and `progressive`, which choose what they tune by rows that calibrate nothing."""

from typing import Any

import numpy as np

from benchmarks.evidence.promises.family import Family, Tally
from benchmarks.evidence.promises.fit_tallies import ALPHA, Account, fit_case, fits, missed, too_much
from benchmarks.evidence.promises.tiny_problems import PROBLEMS, TinyProblem
from certiset.core.fit.predictor import Predictor

ROWS = {"pure noise": 400, "waves": 800, "optimal logits": 400, "growing noise": 400}
"""of each problem: auto reveals a tenth of 400, and a fifth of 800, after which it often goes on to make a pool"""
_TUNING = {"steps": 2, "rate": 0.4, "batch": 32}


def simulate(*, runs: int, seed: int, problem: str, rows: int, delta: float, options: dict[str, Any]) -> list[Tally]:
    """All fits count, whatever they chose; gamma is delta."""
    coverage, mean = Account(delta), Account(delta)
    for predictor in fits(problem, rows, runs, seed, {"delta": delta, "gamma": delta, **options}):
        lost = served_miss(problem, predictor)
        coverage.count(
            too_much(lost, ALPHA), missed=lost, pools=predictor.members > 1, tuned=predictor.theta.numel() > 0
        )
        efficiency = predictor.certificate.efficiency
        if efficiency.upper_bound is not None and efficiency.bound != "exact":
            mean.count(_mean_size(PROBLEMS[problem](), predictor) > efficiency.upper_bound * (1 + 1e-9))
    found = [coverage.tally("at most alpha is missed, as served"), mean.tally("mean size")]
    return [tally for tally in found if tally.made]


def served_miss(problem: str, predictor: Predictor) -> float:
    """The true miscoverage of the member that is drawn by the weights."""
    return float(predictor.chances @ missed(problem, predictor))


def _mean_size(problem: TinyProblem, predictor: Predictor) -> float:
    """Of sets as they are served, cut at the cap."""
    cap = predictor.certificate.efficiency.cap
    assert cap is not None
    means = [problem.weights @ np.minimum(problem.sizes(predictor, member), cap) for member in range(predictor.members)]
    return float(predictor.chances @ np.array(means))


def chosen_options(method: str) -> dict[str, Any]:
    """Of a quick fit, of which every stage is there."""
    prior = {**_TUNING, "split": 0.5} if method == "progressive" else _TUNING
    return {"method": method, "prior": prior, "allow_missing_classes": True}


FAMILY = Family(
    "chosen_fits",
    "coverage",
    "Whole fits: `auto` and `progressive`",
    f"Alpha = {ALPHA:g}, gamma = delta. What is tuned, how, whether to stop and whether a pool is made "
    "is chosen on revealed rows, and nothing is taken from delta for it. Labels that are pure noise, where tuning can "
    "only learn by heart; labels that change in waves, and noise that grows with x, where it helps; logits that are "
    "already the best possible. Promised is the mean over what is served, by its weights.",
    simulate,
    [
        fit_case(f"{method}, {problem}", problem, rows, delta, 1000, chosen_options(method))
        for method in ("auto", "progressive")
        for problem, rows in ROWS.items()
        for delta in (0.05, 0.2)
    ],
)
