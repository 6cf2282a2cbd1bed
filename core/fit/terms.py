"""The terms of a fit: all that is fixed before D_N is looked at, and thereby all that the promises may rest on."""

import math
from dataclasses import dataclass

from core.bounds import TooFewPointsError, smallest_n_2a, smallest_n_2b
from core.fit.choices import Step, plan_steps
from core.fit.options import FitOptions
from core.scores import Score, without_scale

_STEPS_SHARE = 0.25
"""of delta and gamma, for the posterior steps if there are any (docs/decisions/003)"""


@dataclass(frozen=True)
class Terms:
    options: FitOptions
    score: Score
    """as chosen; without its learned scale for the standard method"""
    n_tune: int
    n: int
    """points of D_N"""
    objectives: list[str]
    """one for each prior that is tuned, first the one that posterior steps start from"""
    steps: list[Step]
    weights: list[float]
    """the share of delta and gamma of each choice: first the priors as they are, then the steps"""

    @property
    def tuned(self) -> bool:
        return self.options.method != "standard"

    @property
    def choices(self) -> list[str]:
        points = [f"no posterior step, prior tuned by {objective}" for objective in self.objectives]
        return points + [f"posterior step at alpha_hat = {step.level:g}" for step in self.steps]

    def delta(self, choice: int) -> float:
        return self.options.delta * self.weights[choice]

    def gamma(self, choice: int) -> float:
        return self.options.gamma * self.weights[choice]


def make_terms(options: FitOptions, rows: int) -> Terms:
    """Raises a `TooFewPointsError` that says how many rows would do."""
    tuned = options.method != "standard"
    n_tune = int(options.prior.split * rows) if tuned and options.prior.train != "none" else 0
    n = rows - n_tune
    objectives = _objectives(options) if n_tune else ["none"]
    wants_steps = options.method == "pac_bayes" and n >= 2
    steps = plan_steps(options, n, len(objectives), _STEPS_SHARE) if wants_steps else []
    points = (1 - _STEPS_SHARE if steps else 1.0) / len(objectives)
    weights = [points] * len(objectives) + [_STEPS_SHARE / max(len(steps), 1)] * len(steps)
    score = options.score if tuned else without_scale(options.score)
    terms = Terms(options, score, n_tune, n, objectives, steps, weights)
    _check_points(terms)
    return terms


def _objectives(options: FitOptions) -> list[str]:
    return ["proper", "size"] if options.prior.objective == "auto" else [options.prior.objective]


def _check_points(terms: Terms) -> None:
    options = terms.options
    smallest = smallest_n_2a if options.bound == "vovk_2a" else smallest_n_2b
    needed = smallest(options.alpha, terms.delta(0))
    if terms.n < needed:
        rows = math.ceil(needed / (1 - options.prior.split)) + 1 if terms.n_tune else needed
        raise TooFewPointsError(
            f"{terms.n + terms.n_tune} rows leave n = {terms.n} for calibration, too few for "
            f"alpha = {options.alpha:g}, delta = {options.delta:g}: at least {needed} are needed, "
            f"that is {rows} rows in all.",
            needed,
        )
