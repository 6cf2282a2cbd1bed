"""`fit`: split, tune the prior, step to a posterior, draw pairs, certify, and take the best choice."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from certiset.core.data.arrays import CheckedData, check_data
from certiset.core.errors import OptionError, StoppedError
from certiset.core.fit.candidates import Candidate, fit_posteriors, point_candidate, posterior_candidate
from certiset.core.fit.certification import Certified, certify, issue
from certiset.core.fit.model_defaults import completed
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan, make_plan
from certiset.core.fit.predictor import Predictor, make_predictor
from certiset.core.fit.rows import Rows, on_device
from certiset.core.fit.scorer import Scorer, make_scorer
from certiset.core.fit.serialization import Members
from certiset.core.fit.thresholds import size_cap
from certiset.core.fit.tuning import tune_priors
from certiset.core.models import Model
from certiset.core.posterior.gaussian import DiagonalGaussian
from certiset.core.posterior.optimizer import Report, ShouldStop

Progress = Callable[[dict[str, Any]], None]
"""takes {phase, step, steps, fraction, metrics: {loss, kl, budget}}"""

_PREVIEWED = 4
_PHASES = {"prepare": (0.0, 0.05), "tune": (0.05, 0.5), "fit": (0.5, 0.85), "calibrate": (0.85, 1.0)}


def fit(
    model: Model,
    x: ArrayLike,
    y: ArrayLike,
    *,
    progress: Progress | None = None,
    should_stop: ShouldStop | None = None,
    **options: Any,
) -> Predictor:
    """Turns calibration data into a predictor whose members carry a certificate.

    Options and their defaults are those of `FitOptions`. Everything is checked before any work is done; the same seed
    gives the same bytes on one device.
    """
    data, plan = check(model, x, y, **options)
    return _Fit(model, data, plan, _device(plan.options.device), progress, should_stop).run()


def check(model: Model, x: ArrayLike, y: ArrayLike, **options: Any) -> tuple[CheckedData, Plan]:
    """All that `fit` refuses before any work is done: options, data, their number, and whether they go together."""
    chosen = completed(FitOptions.read(options).resolved(model.manifest.task), model)
    data = check_data(model, x, y, allow_missing_classes=chosen.allow_missing_classes)
    plan = make_plan(chosen, len(data.y))
    plan.score.check(model.outputs, 1 if data.y.ndim == 1 else data.y.shape[1])
    make_scorer(model, chosen, plan.score, tuned=plan.tuned, features=1)
    return data, plan


class _Fit:
    """One run; holds what the stages share."""

    def __init__(
        self,
        model: Model,
        data: CheckedData,
        plan: Plan,
        device: torch.device,
        progress: Progress | None,
        should_stop: ShouldStop | None,
    ) -> None:
        self.model, self.data, self.plan = model, data, plan
        self.device, self.dtype = device, getattr(torch, plan.options.dtype)
        self.progress, self.should_stop = progress, should_stop
        self.messages: list[str] = []

    def run(self) -> Predictor:
        plan, options = self.plan, self.plan.options
        self._report("prepare", 0, 1)
        order = torch.randperm(len(self.data.y), generator=torch.Generator().manual_seed(options.seed))
        rows = on_device(self.model, self.data, self.device, self.dtype)
        tuning = rows.take(order[: plan.n_tune].to(self.device)) if plan.n_tune else None
        calibration = rows.take(order[plan.n_tune :].to(self.device))
        scorer = make_scorer(self.model, options, plan.score, tuned=plan.tuned, features=rows.features.shape[1])
        priors = self._tune(scorer, tuning, calibration)
        candidates = self._points(priors)
        if options.method == "pac_bayes":
            candidates += self._posteriors(scorer, calibration, priors[0])
        best = self._best(scorer, candidates, calibration, tuning)
        return self._predictor(scorer, best)

    def _tune(self, scorer: Scorer, tuning: Rows | None, calibration: Rows) -> list[DiagonalGaussian]:
        priors = tune_priors(
            scorer,
            # Without tuning data nothing is tuned; the row then only tells device and precision.
            tuning if tuning is not None else calibration.slice(0, 1),
            self.plan.options,
            self.plan.objectives,
            self._generator(1),
            first_is_drawn_from=bool(self.plan.steps),
            progress=lambda step, steps, loss: self._report("tune", step, steps, loss=loss),
            should_stop=self.should_stop,
        )
        self._stop_if_asked()
        return priors

    def _points(self, priors: list[DiagonalGaussian]) -> list[Candidate]:
        return [point_candidate(self.plan, place, prior.mean) for place, prior in enumerate(priors)]

    def _posteriors(self, scorer: Scorer, calibration: Rows, prior: DiagonalGaussian) -> list[Candidate]:
        plan, generator = self.plan, self._generator(2)
        if not plan.steps:
            self.messages.append("No level of the grid left nats to spend, so no posterior step was taken.")
            return []
        result = fit_posteriors(plan, scorer, calibration, prior, generator, self._optimizer_report, self.should_stop)
        self._stop_if_asked()
        if result.status == "diverged":
            self.messages.append(
                f"The posterior step diverged after {result.steps} steps: the prior is kept, by Vovk 2b."
            )
            return []
        found = [
            posterior_candidate(plan, place, result.posterior[place], prior, generator)
            for place in range(len(plan.steps))
        ]
        return [candidate for candidate in found if candidate is not None]

    def _best(self, scorer: Scorer, candidates: list[Candidate], calibration: Rows, tuning: Rows | None) -> Certified:
        """The choice with the best efficiency certificate.

        Every choice is paid for, so that any rule may pick one; a few members of each tell them apart well enough.
        """
        cap = size_cap(scorer, tuning, self.plan.options.size_cap)
        previews = []
        for place, candidate in enumerate(candidates):
            self._report("calibrate", place, len(candidates) + 1)
            self._stop_if_asked()
            previews.append(certify(self.plan, scorer, candidate.first(_PREVIEWED), calibration, tuning, cap))
        taken = min(range(len(candidates)), key=lambda place: previews[place].cost)
        best = previews[taken]
        if len(best.candidate.ranks) < len(candidates[taken].ranks):
            best = certify(self.plan, scorer, candidates[taken], calibration, tuning, cap)
        self._report("calibrate", 1, 1)
        if self.plan.steps and not self.messages and not best.candidate.guarantee.needs_posterior:
            self.messages.append(
                "No posterior step was worth its nats, so the tuned parameters are served as they are: one member, "
                "which keeps the promise by itself."
            )
        return best

    def _predictor(self, scorer: Scorer, best: Certified) -> Predictor:
        theta = best.candidate.theta.cpu()
        tau = torch.tensor(best.calibrated.tau, dtype=torch.float64).to(self.dtype)
        members = Members(scorer, theta, tau)
        certificate = issue(
            self.plan,
            best,
            members_sha256=members.sha256,
            model_sha256=self.model.sha256,
            dataset_sha256=self.data.sha256,
            device=str(self.device),
            messages=self.messages,
        )
        return make_predictor(members, certificate, self.device)

    def _generator(self, stage: int) -> torch.Generator:
        """Randomness of one stage, on the device that uses it."""
        return torch.Generator(self.device).manual_seed(self.plan.options.seed + stage)

    def _optimizer_report(self, report: Report) -> None:
        best = int(np.argmin(report.loss))
        self._report(
            "fit",
            report.step,
            report.steps,
            loss=report.loss[best],
            kl=report.kl[best],
            budget=report.budget[best],
        )

    def _report(self, phase: str, step: int, steps: int, **metrics: float) -> None:
        if self.progress is None:
            return
        start, end = _PHASES[phase]
        fraction = start + (end - start) * step / max(steps, 1)
        self.progress({"phase": phase, "step": step, "steps": steps, "fraction": fraction, "metrics": metrics})

    def _stop_if_asked(self) -> None:
        if self.should_stop is not None and self.should_stop():
            raise StoppedError("The fit was asked to stop.")


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()
    except (RuntimeError, AssertionError, TypeError):
        raise OptionError(f"device {name!r} is not available on this machine.", field="device") from None
    return device
