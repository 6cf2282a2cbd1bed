"""`fit`: split, tune the prior, step to a posterior, draw pairs, certify, and take the best choice."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from certiset.core.certificate import Certificate
from certiset.core.certificate.canaries import Canaries
from certiset.core.certificate.content import Caveat, ModelFacts, Names
from certiset.core.data.arrays import CheckedData
from certiset.core.errors import OptionError, StoppedError
from certiset.core.fit.canaries import make_canaries
from certiset.core.fit.candidates import Candidate, fit_posteriors, point_candidate, posterior_candidate
from certiset.core.fit.caveats import label_caveats, rounding_caveats, set_caveats
from certiset.core.fit.certification import Certified, certify, issue
from certiset.core.fit.data_caveats import Findings, examine
from certiset.core.fit.model_defaults import completed
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan, make_plan
from certiset.core.fit.precision import full_precision
from certiset.core.fit.predictor import Predictor, make_predictor
from certiset.core.fit.reference_rows import ReferenceRows, make_reference
from certiset.core.fit.roles import Given, read_rows
from certiset.core.fit.rows import Rows, run_model, targets
from certiset.core.fit.scorer import Scorer, make_scorer
from certiset.core.fit.serialization import Members
from certiset.core.fit.served_rows import check_served_rows
from certiset.core.fit.serving_choice import best_alone
from certiset.core.fit.splitting import count_units, split
from certiset.core.fit.target_unit import target_exponent
from certiset.core.fit.thresholds import size_cap
from certiset.core.fit.tuning import tune_priors
from certiset.core.models import Model
from certiset.core.posterior.gaussian import DiagonalGaussian
from certiset.core.posterior.optimizer import Report, ShouldStop

Progress = Callable[[dict[str, Any]], None]
"""takes {phase, step, steps, fraction, metrics: {loss, kl, budget}}"""

_PREVIEWED = 4
_ROWS_LOOKED_AT = 20_000
"""for caveats about labels"""
_PHASES = {"prepare": (0.0, 0.05), "tune": (0.05, 0.5), "fit": (0.5, 0.85), "calibrate": (0.85, 1.0)}


def fit(
    model: Model,
    x: Any,
    y: ArrayLike,
    *,
    clusters: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    progress: Progress | None = None,
    should_stop: ShouldStop | None = None,
    **options: Any,
) -> Predictor:
    """Turns calibration data into a predictor whose members carry a certificate.

    Options and their defaults are those of `FitOptions`. Everything is checked before any work is done; the same seed
    gives the same bytes on one device. ``x`` is an array or a data frame; ``clusters`` and ``order`` name columns of
    the data frame, or are arrays with one entry per row.
    """
    data, plan = check(model, x, y, clusters=clusters, order=order, **options)
    device = _device(plan.options.device)
    with full_precision(device):
        return _Fit(model, data, plan, device, progress, should_stop).run()


def check(
    model: Model,
    x: Any,
    y: ArrayLike,
    *,
    clusters: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    **options: Any,
) -> tuple[CheckedData, Plan]:
    """All that `fit` refuses before any work is done: options, data, their number, and whether they go together."""
    given = Given.of({"clusters": clusters, "order": order})
    chosen = completed(FitOptions.read({**options, **given.names}).resolved(model.manifest.task), model)
    data = read_rows(model, x, y, chosen, given)
    plan = make_plan(chosen, *count_units(data))
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
        self.caveats: list[Caveat] = []
        self.findings: Findings

    def run(self) -> Predictor:
        plan, options = self.plan, self.plan.options
        self._report("prepare", 0, 1)
        parts = split(options.seed, plan.n_tune, self.data)
        features, outputs = run_model(self.model, self.data.x, self.device, self.dtype)
        # Of D_0, or of D_N where there is none: see there why that is allowed.
        first = parts.calibration if parts.tuning is None else parts.tuning
        exponent = target_exponent(plan.score, self.data.y, outputs, first)
        rows = Rows(features, outputs, targets(self.data.y, exponent, self.device, self.dtype))
        tuning = rows.take(parts.tuning.to(self.device)) if parts.tuning is not None else None
        calibration = rows.take(parts.calibration.to(self.device))
        scorer = make_scorer(
            self.model, options, plan.score, tuned=plan.tuned, features=features.shape[1], exponent=exponent
        )
        self.findings = examine(self.data, parts, rows, options, scorer)
        priors = self._tune(scorer, tuning, calibration)
        candidates = self._points(priors)
        if options.method == "pac_bayes":
            candidates += self._posteriors(scorer, calibration, priors[0])
        reference = make_reference(scorer, self.data, parts.calibration, self.dtype)
        best = self._best(scorer, candidates, calibration, tuning, reference)
        if plan.score.task == "classification":
            looked_at = parts.calibration[:_ROWS_LOOKED_AT]
            as_given = outputs[looked_at.to(self.device)].cpu().numpy()
            self.caveats += label_caveats(as_given, self.data.y[looked_at.numpy()])
        if options.serve == "best":
            best = best_alone(best)
        return self._predictor(scorer, best, parts.calibration.numpy())

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

    def _best(
        self,
        scorer: Scorer,
        candidates: list[Candidate],
        calibration: Rows,
        tuning: Rows | None,
        reference: ReferenceRows,
    ) -> Certified:
        """The choice with the best efficiency certificate.

        Every choice is paid for, so that any rule may pick one; a few members of each tell them apart well enough.
        """
        cap = size_cap(scorer, tuning, self.plan.options.size_cap)
        previews = []
        for place, candidate in enumerate(candidates):
            self._report("calibrate", place, len(candidates) + 1)
            self._stop_if_asked()
            previews.append(
                certify(self.plan, scorer, candidate.first(_PREVIEWED), calibration, tuning, cap, reference)
            )
        taken = min(range(len(candidates)), key=lambda place: previews[place].cost)
        best = previews[taken]
        if len(best.candidate.ranks) < len(candidates[taken].ranks):
            best = certify(self.plan, scorer, candidates[taken], calibration, tuning, cap, reference)
        if self.plan.steps and not self.messages and not best.candidate.guarantee.needs_posterior:
            self.messages.append(
                "No posterior step was worth its nats, so the tuned parameters are served as they are: one member, "
                "which keeps the promise by itself."
            )
        return best

    def _predictor(self, scorer: Scorer, best: Certified, calibration: NDArray[np.int64]) -> Predictor:
        theta = best.candidate.theta.cpu()
        tau = torch.tensor(np.ldexp(best.calibrated.tau, -scorer.exponent)).to(self.dtype)
        members = Members(scorer, theta, tau)
        hashes = {
            "members_sha256": members.sha256,
            "predictor_sha256": hashlib.sha256(members.to_bytes()).hexdigest(),
            "model_sha256": self.model.sha256,
            "dataset_sha256": self.data.sha256,
        }
        draft = make_predictor(members, self._issue(best, hashes), self.device)
        empty = check_served_rows(draft, self.data, calibration, best.candidate.ranks, self._stop_if_asked)
        self.caveats += set_caveats(empty, labels=scorer.score.task == "classification")
        self.caveats += rounding_caveats(best.calibrated.rounding, self.plan.options.dtype)
        canaries = make_canaries(draft, self.data.x, calibration, self.plan.options.seed % 2**32)
        self._report("calibrate", 1, 1)
        return replace(draft, certificate=self._issue(best, hashes, canaries))

    def _issue(self, best: Certified, hashes: dict[str, str], canaries: Canaries | None = None) -> Certificate:
        return issue(
            self.plan,
            best,
            **hashes,
            device=str(self.device),
            messages=self.messages,
            caveats=[*self.findings.caveats, *self.caveats],
            data=self.findings.data,
            model=ModelFacts(self.model.rows),
            names=Names(model=self.model.manifest.name),
            canaries=canaries,
        )

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
