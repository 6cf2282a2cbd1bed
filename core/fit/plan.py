"""The plan of a fit: all that is fixed before D_N is looked at, and thereby all that the promises may rest on."""

import math
from dataclasses import dataclass

from certiset.core.bounds import TooFewPointsError
from certiset.core.certificate.guarantees import Guarantee, Step, point_guarantee, posterior_guarantee
from certiset.core.fit.options import FitOptions
from certiset.core.scores import Score

_STEPS_SHARE = 0.25
"""of delta and gamma, for the posterior steps if there are any (docs/decisions/003)"""
_WORTHWHILE_NATS = 0.25


@dataclass(frozen=True)
class Plan:
    options: FitOptions
    """resolved for the model's task"""
    score: Score
    """as chosen; without its learned scale for the standard method"""
    n_tune: int
    """rows, or clusters, of D_0"""
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

    @property
    def point_guarantee(self) -> Guarantee:
        """For the tuned parameters as they are."""
        return point_guarantee(self.options.bound)

    @property
    def posterior_guarantee(self) -> Guarantee:
        """For members that are drawn from a posterior."""
        return posterior_guarantee(self.options.guarantee, self.options.bound)

    def choice_of(self, step: int) -> int:
        """The number of a step's choice, behind the priors as they are."""
        return len(self.objectives) + step

    def delta(self, choice: int) -> float:
        return self.options.own_delta * self.weights[choice]

    def gamma(self, choice: int) -> float:
        return self.options.own_gamma * self.weights[choice]


def make_plan(options: FitOptions, rows: int, unit: str = "rows") -> Plan:
    """Raises a `TooFewPointsError` that says how many rows are enough; ``unit`` is clusters where these are counted."""
    tuned = options.method != "standard"
    n_tune = int(options.prior.split * rows) if tuned and options.prior.train != "none" else 0
    n = rows - n_tune
    objectives = _objectives(options) if n_tune else ["none"]
    steps = plan_steps(options, n) if options.method == "pac_bayes" and n >= 2 else []
    points = (1 - _STEPS_SHARE if steps else 1.0) / len(objectives)
    weights = [points] * len(objectives) + [_STEPS_SHARE / max(len(steps), 1)] * len(steps)
    score = options.chosen_score if tuned else options.chosen_score.without_scale()
    plan = Plan(options, score, n_tune, n, objectives, steps, weights)
    _check_points(plan, unit)
    return plan


def plan_steps(options: FitOptions, n: int, share: float = _STEPS_SHARE) -> list[Step]:
    """One for each level of the grid that leaves something to spend of its part of ``share`` of delta.

    Depends on no data, so that levels without a step need not be paid for: they are dropped until all that are left
    have one. What is dropped leaves more for the others, so none of them is lost again.
    """
    guarantee = posterior_guarantee(options.guarantee, options.bound)
    levels = list(options.levels)
    while levels:
        delta = options.own_delta * share / len(levels)
        steps = [guarantee.step(n, options.alpha, delta, level, options.members) for level in levels]
        worthwhile = [step for step in steps if step is not None and step.target >= _WORTHWHILE_NATS]
        if len(worthwhile) == len(levels):
            return worthwhile
        levels = [step.level for step in worthwhile]
    return []


def _objectives(options: FitOptions) -> list[str]:
    return ["proper", "size"] if options.prior.objective == "auto" else [options.prior.objective]


def _check_points(plan: Plan, unit: str) -> None:
    options = plan.options
    needed = plan.point_guarantee.smallest_n(options.alpha, plan.delta(0))
    assert needed is not None
    if plan.n < needed:
        rows = math.ceil(needed / (1 - options.prior.split)) + 1 if plan.n_tune else needed
        raise TooFewPointsError(
            f"{plan.n + plan.n_tune} {unit} leave n = {plan.n} for calibration, too few for "
            f"alpha = {options.alpha:g}, delta = {options.own_delta:g}: at least {needed} are needed, "
            f"that is {rows} {unit} in all.",
            needed,
        )
