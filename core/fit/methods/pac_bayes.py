"""The paper's system: a prior from D_0, a posterior on D_N within its KL budget, and pairs drawn from it.

Whatever comes out is drawn from a posterior. Where no level of the grid leaves anything to spend there is no such
predictor, and the error says what would leave something; nothing else is certified in its place.
"""

from typing import ClassVar

from certiset.core.bounds import TooFewPointsError
from certiset.core.errors import FitError
from certiset.core.fit.candidates import Candidate, fit_posteriors, posterior_candidate
from certiset.core.fit.certification import Certified, calibration_of, certify, fitted
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.methods.base import Method
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan, plan_steps, tuning_count
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.serving_choice import best_alone
from certiset.core.fit.tuning import tune_prior
from certiset.core.fit.workspace import Workspace
from certiset.core.posterior.gaussian import DiagonalGaussian

_PREVIEWED = 4
_MOST_ROWS = 2**26
_ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


class PacBayes(Method):
    guarantees: ClassVar[tuple[str, ...]] = ("per_draw", "posterior")

    def plan(self, options: FitOptions, rows: int, unit: str = "rows") -> Plan:
        n_tune = tuning_count(options, rows)
        steps = plan_steps(options, rows - n_tune) if rows - n_tune >= 2 else []
        if not steps:
            raise _without_budget(options, rows, unit)
        choices = [f"posterior step at alpha_hat = {step.level:g}" for step in steps]
        weights = [1 / len(steps)] * len(steps)
        return Plan(options, options.chosen_score, n_tune, (rows - n_tune,), choices, weights, steps)

    def run(self, work: Workspace) -> Fitted:
        scorer = work.tuned_scorer()
        prior = tune_prior(work, scorer, is_drawn_from=True)
        best = _best(work, scorer, _posteriors(work, scorer, prior))
        return fitted(work, scorer, best_alone(best) if work.plan.options.serve == "best" else best)


def _posteriors(work: Workspace, scorer: Scorer, prior: DiagonalGaussian) -> list[Candidate]:
    plan, generator = work.plan, work.generator(2)
    calibration = work.take(work.calibration())
    result = fit_posteriors(plan, scorer, calibration, prior, generator, work.optimizer_report, work.should_stop)
    work.stop_if_asked()
    if result.status == "diverged":
        raise FitError(
            f"The posterior step diverged after {result.steps} steps: a smaller optimizer.rate or prior.scale may help."
        )
    drawn = [
        posterior_candidate(plan, place, result.posterior[place], prior, generator) for place in range(len(plan.steps))
    ]
    found = [candidate for candidate in drawn if candidate is not None]
    if not found:
        raise FitError("No draw from a posterior stayed within its budget: another seed or more rows may help.")
    return found


def _best(work: Workspace, scorer: Scorer, candidates: list[Candidate]) -> Certified:
    """The choice with the best efficiency certificate.

    Every choice is paid for, so that any rule may pick one; a few members of each tell them apart well enough.
    """
    parts = calibration_of(work, scorer)
    previews = []
    for place, candidate in enumerate(candidates):
        work.report("calibrate", place, len(candidates) + 1)
        work.stop_if_asked()
        previews.append(certify(work.plan, scorer, candidate.first(_PREVIEWED), parts))
    taken = min(range(len(candidates)), key=lambda place: previews[place].cost)
    if len(candidates[taken].ranks) <= _PREVIEWED:
        return previews[taken]
    return certify(work.plan, scorer, candidates[taken], parts)


def _without_budget(options: FitOptions, rows: int, unit: str) -> TooFewPointsError:
    """How many rows would leave a budget, and which alpha would with these."""

    def has_budget(count: int, alpha: float | None = None) -> bool:
        asked = options if alpha is None else options.at_alpha(alpha)
        n = count - tuning_count(asked, count)
        return n >= 2 and bool(plan_steps(asked, n))

    enough = rows
    while enough <= _MOST_ROWS and not has_budget(enough):
        enough *= 2
    said = "no number of rows would"
    if enough <= _MOST_ROWS:
        low, high = max(1, enough // 2), enough
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if has_budget(middle) else (middle, high)
        enough = high
        said = f"{enough} {unit} would"
    alpha = next((level for level in _ALPHAS if level > options.level and has_budget(rows, level)), None)
    other = "" if alpha is None else f", or alpha = {alpha:g} with these"
    return TooFewPointsError(
        f"{rows} {unit} leave no nats for a posterior at alpha = {options.level:g}, delta = {options.own_delta:g} and "
        f"{options.members} members: {said}{other}. Fewer members need less, and methods learned and standard need "
        "no posterior.",
        enough,
    )


PAC_BAYES = PacBayes("pac_bayes")
