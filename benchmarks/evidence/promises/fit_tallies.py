"""What became of the promises of many fits on a tiny problem, statement by statement."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.evidence.promises.family import Case, Tally
from benchmarks.evidence.promises.tiny_problems import PROBLEMS, TOLERANCE, TinyProblem
from certiset.core.fit import fit
from certiset.core.fit.predictor import Predictor

ALPHA = 0.2


@dataclass
class Account:
    """Of one statement, as the fits go on."""

    level: float
    made: int = 0
    broken: int = 0
    facts: dict[str, float] = field(default_factory=dict)

    def count(self, broken: bool, **facts: float) -> None:
        self.made += 1
        self.broken += bool(broken)
        for name, value in facts.items():
            self.facts[name] = self.facts.get(name, 0.0) + float(value)

    def tally(self, statement: str) -> Tally:
        facts = {name: total / max(self.made, 1) for name, total in self.facts.items()}
        return Tally(statement, self.level, self.broken, self.made, facts=facts)


def fit_case(
    name: str,
    problem: str,
    rows: int,
    delta: float,
    runs: int,
    options: dict[str, Any],
    fits_at_once: int = 100,
) -> Case:
    """``fits_at_once`` are kept together, so that an interrupted run resumes behind them."""
    settings = {"problem": problem, "rows": rows, "delta": delta, "options": options}
    return Case(name, settings, runs, quick_runs=3, parts=runs // fits_at_once)


def fits(problem: str, rows: int, runs: int, seed: int, options: dict[str, Any]) -> Iterator[Predictor]:
    """Each on rows of its own, alpha = 0.2."""
    made = PROBLEMS[problem]()
    for run in range(runs):
        x, y = made.draw(rows, np.random.default_rng([seed, run]))
        yield fit(made.model, x, y, alpha=ALPHA, seed=seed * runs + run, device="cpu", **options)


def missed(problem: str, predictor: Predictor) -> np.ndarray:
    """(members,): the true miscoverage of each."""
    made = PROBLEMS[problem]()
    return np.array([made.missed(predictor, member) for member in range(predictor.members)])


def too_much(missed: float, promised: float) -> bool:
    return missed > promised + TOLERANCE


def mean_size_broken(problem: TinyProblem, predictor: Predictor) -> bool:
    """Whether the mean size, cut at the cap, of a single member is larger than certified."""
    efficiency = predictor.certificate.efficiency
    assert efficiency.upper_bound is not None
    assert efficiency.cap is not None
    mean = problem.weights @ np.minimum(problem.sizes(predictor, 0), efficiency.cap)
    return bool(mean > efficiency.upper_bound * (1 + 1e-9))


def quantile_broken(problem: TinyProblem, predictor: Predictor) -> bool:
    """Whether more than the promised share of the sets of a single member is larger than certified."""
    quantile = predictor.certificate.efficiency.quantile
    assert quantile is not None
    # Widths are computed in the precision of the fit.
    larger = problem.sizes(predictor, 0) > quantile.size * (1 + 1e-6)
    return too_much(float(problem.weights @ larger), quantile.share)
