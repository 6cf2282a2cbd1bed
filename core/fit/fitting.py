"""`fit`: split, tune the prior, step to a posterior, draw pairs, certify, and take the best choice."""

import importlib.metadata
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from core.bounds import (
    TooFewPointsError,
    efficiency_bound,
    miscoverage_bound,
    per_draw_efficiency_bound,
    pool_miscoverage_bound,
    smallest_n_2a,
    smallest_n_2b,
)
from core.certificate import Certificate, Coverage, Efficiency, Member, Provenance, Union
from core.certificate.statement import ASSUMPTIONS, statement
from core.errors import OptionError, StoppedError
from core.fit.calibration import GRID_POINTS, Calibrated, calibrate, size_cap
from core.fit.choices import Candidate, fit_posteriors, plan_steps, point_candidate, posterior_candidate
from core.fit.data import CheckedData, Rows, check_data, on_device
from core.fit.options import FitOptions, read_options
from core.fit.predictor import Predictor, members_sha256, scoring_description
from core.fit.scorer import Scorer, make_scorer
from core.fit.tuning import tune_priors
from core.models import Model
from core.posterior.gaussian import DiagonalGaussian
from core.posterior.optimizing import Report, ShouldStop
from core.scores import without_scale

Progress = Callable[[dict[str, Any]], None]
"""takes {phase, step, steps, fraction, loss, kl, budget}"""

_MONTE_CARLO_SHARE = 0.5
_STEPS_SHARE = 0.25
_SMALLEST_N_OF_GRID = 8
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

    Options and their defaults are those of `core.fit.options.FitOptions`. Everything is checked before any work is
    done; the same seed gives the same bytes on one device.
    """
    chosen = read_options(model.manifest.task, options)
    data = check_data(model, x, y, allow_missing_classes=chosen.allow_missing_classes)
    return _Fit(model, data, chosen, progress, should_stop).run()


@dataclass(frozen=True)
class _Scored:
    """A candidate with its thresholds and its efficiency certificate."""

    candidate: Candidate
    calibrated: Calibrated
    member_bounds: list[float] | None
    upper_bound: float | None

    @property
    def rank(self) -> tuple[float, float]:
        """Smaller is better: the certified size, then the size on D_N."""
        mean = float(np.mean(self.calibrated.size))
        return (self.upper_bound if self.upper_bound is not None else mean, mean)


class _Fit:
    """One run; holds what the stages share."""

    def __init__(
        self,
        model: Model,
        data: CheckedData,
        options: FitOptions,
        progress: Progress | None,
        should_stop: ShouldStop | None,
    ) -> None:
        self.model, self.data, self.options = model, data, options
        self.progress, self.should_stop = progress, should_stop
        self.device, self.dtype = _device(options.device), getattr(torch, options.dtype)
        self.messages: list[str] = []
        self.tuned = options.method != "standard"
        self.score = options.score if self.tuned else without_scale(options.score)
        self.score.check(model.outputs, 1 if data.y.ndim == 1 else data.y.shape[1])
        rows = len(data.y)
        tunes = self.tuned and options.prior.train != "none"
        self.n_tune = int(options.prior.split * rows) if tunes else 0
        self.n = rows - self.n_tune
        self.objectives = self._objectives()
        wants_steps = options.method == "pac_bayes" and self.n >= 2
        self.steps = plan_steps(options, self.n, len(self.objectives), _STEPS_SHARE) if wants_steps else []
        self.weights = self._weights()
        self._enough_points()

    def run(self) -> Predictor:
        options = self.options
        self._report("prepare", 0, 1)
        order = torch.randperm(len(self.data.y), generator=torch.Generator().manual_seed(options.seed))
        rows = on_device(self.model, self.data, self.device, self.dtype)
        tuning = rows.take(order[: self.n_tune].to(self.device)) if self.n_tune else None
        calibration = rows.take(order[self.n_tune :].to(self.device))
        scorer = make_scorer(self.model, options, self.score, tuned=self.tuned, features=rows.features.shape[1])
        priors = self._tune(scorer, tuning, calibration)
        candidates = self._points(priors)
        if self.options.method == "pac_bayes":
            candidates += self._posteriors(scorer, calibration, priors[0])
        cap = size_cap(scorer, tuning, options.size_cap)
        previews = []
        for place, candidate in enumerate(candidates):
            self._report("calibrate", place, len(candidates) + 1)
            self._stop_if_asked()
            previews.append(self._certified(scorer, candidate.first(_PREVIEWED), calibration, tuning, cap))
        # Every choice is paid for, so that any rule may pick one; a few members tell them apart well enough.
        taken = min(range(len(candidates)), key=lambda place: previews[place].rank)
        best = previews[taken]
        if len(best.candidate.ranks) < len(candidates[taken].ranks):
            best = self._certified(scorer, candidates[taken], calibration, tuning, cap)
        self._report("calibrate", 1, 1)
        return self._predictor(scorer, best, cap, tuning is not None)

    def _objectives(self) -> list[str]:
        """The priors that are tuned, first the one that posterior steps start from."""
        if not self.tuned or self.options.prior.train == "none":
            return ["none"]
        objective = self.options.prior.objective
        return ["proper", "size"] if objective == "auto" else [objective]

    def _weights(self) -> list[float]:
        """A quarter of delta for the posterior steps, if any; the rest for the tuned parameters as they are."""
        points, steps = len(self.objectives), len(self.steps)
        share = 1 - _STEPS_SHARE if steps else 1.0
        return [share / points] * points + [_STEPS_SHARE / max(steps, 1)] * steps

    def _choices(self) -> list[str]:
        points = [f"no posterior step, prior tuned by {objective}" for objective in self.objectives]
        return points + [f"posterior step at alpha_hat = {step.level:g}" for step in self.steps]

    def _enough_points(self) -> None:
        options = self.options
        delta = options.delta * self.weights[0]
        smallest = smallest_n_2a if options.bound == "vovk_2a" else smallest_n_2b
        needed = smallest(options.alpha, delta)
        if self.n < needed:
            rows = math.ceil(needed / (1 - options.prior.split)) + 1 if self.n_tune else needed
            raise TooFewPointsError(
                f"{self.n + self.n_tune} rows leave n = {self.n} for calibration, too few for "
                f"alpha = {options.alpha:g}, delta = {options.delta:g}: at least {needed} are needed, "
                f"that is {rows} rows in all.",
                needed,
            )

    def _tune(self, scorer: Scorer, tuning: Rows | None, calibration: Rows) -> list[DiagonalGaussian]:
        priors = tune_priors(
            scorer,
            # Without tuning data nothing is tuned; the row then only tells device and precision.
            tuning if tuning is not None else calibration.slice(0, 1),
            self.options,
            self.objectives,
            self._generator(1),
            first_is_drawn_from=bool(self.steps),
            progress=lambda step, steps, loss: self._report("tune", step, steps, loss=loss),
            should_stop=self.should_stop,
        )
        self._stop_if_asked()
        return priors

    def _points(self, priors: list[DiagonalGaussian]) -> list[Candidate]:
        options = self.options
        bound = "vovk_2a" if options.bound == "vovk_2a" else "vovk_2b"
        return [
            point_candidate(place, prior.mean, self.n, options.alpha, options.delta * self.weights[place], bound)
            for place, prior in enumerate(priors)
        ]

    def _generator(self, stage: int) -> torch.Generator:
        """Randomness of one stage, on the device that uses it."""
        return torch.Generator(self.device).manual_seed(self.options.seed + stage)

    def _posteriors(self, scorer: Scorer, calibration: Rows, prior: DiagonalGaussian) -> list[Candidate]:
        options, generator = self.options, self._generator(2)
        if not self.steps:
            self.messages.append("No level of the grid left nats to spend, so no posterior step was taken.")
            return []
        result = fit_posteriors(
            scorer, calibration, prior, self.steps, options, generator, self._optimizer_report, self.should_stop
        )
        self._stop_if_asked()
        if result.status == "diverged":
            self.messages.append(
                f"The posterior step diverged after {result.steps} steps: the prior is kept, by Vovk 2b."
            )
            return []
        found = [
            posterior_candidate(
                step,
                result.posterior[place],
                prior,
                self.n,
                options,
                options.delta * self.weights[step.choice],
                generator,
            )
            for place, step in enumerate(self.steps)
        ]
        return [candidate for candidate in found if candidate is not None]

    def _certified(
        self, scorer: Scorer, candidate: Candidate, calibration: Rows, tuning: Rows | None, cap: float | None
    ) -> _Scored:
        grid = tuning if self.n >= _SMALLEST_N_OF_GRID else None
        calibrated = calibrate(scorer, candidate.theta, calibration, candidate.ranks, tuning=grid, cap=cap)
        if cap is None:
            return _Scored(candidate, calibrated, None, None)
        gamma = self.options.gamma * self.weights[candidate.choice]
        bound, size = self._efficiency_bound(grid is not None)
        means = np.asarray(calibrated.efficiency)
        if candidate.guarantee == "per_draw":
            ratios = np.asarray(candidate.log_ratios)
            bounds = cap * np.asarray(
                per_draw_efficiency_bound(means, self.n, gamma, ratios, candidate.draws, bound, grid_size=size)
            )
            return _Scored(candidate, calibrated, bounds.tolist(), float(bounds.mean()))
        level = cap * efficiency_bound(
            float(means.mean()),
            self.n,
            gamma * (1 - _MONTE_CARLO_SHARE),
            candidate.kl,
            bound,
            grid_size=size,
            draws=candidate.pool,
            gamma_monte_carlo=gamma * _MONTE_CARLO_SHARE,
        )
        return _Scored(candidate, calibrated, None, float(level))

    @staticmethod
    def _efficiency_bound(has_grid: bool) -> tuple[Any, int | None]:
        return ("grid_kl", GRID_POINTS) if has_grid else ("monotone", None)

    def _predictor(self, scorer: Scorer, best: _Scored, cap: float | None, tuned_rows: bool) -> Predictor:
        theta = best.candidate.theta.cpu()
        tau = torch.tensor(best.calibrated.tau, dtype=torch.float64).to(self.dtype)
        scoring = scoring_description(scorer)
        sha = members_sha256(theta, tau, scoring)
        coverage = self._coverage(best.candidate)
        certificate = Certificate(
            id="",
            predictor_id=f"pred-{sha[:20]}",
            issued_at=datetime.now(UTC).isoformat(timespec="seconds"),
            statement=statement(coverage, len(tau)),
            assumptions=ASSUMPTIONS,
            coverage=coverage,
            members=self._members(best),
            efficiency=self._efficiency(best, cap, tuned_rows),
            provenance=Provenance(
                dataset_sha256=self.data.sha256,
                model_sha256=self.model.sha256,
                members_sha256=sha,
                n_tune=self.n_tune,
                n_calibrate=self.n,
                seed=self.options.seed,
                software={name: importlib.metadata.version(name) for name in ("certiset", "numpy", "scipy", "torch")},
                device=str(self.device),
                method=self.options.method,
                score=self.score.kind,
                messages=self.messages,
            ),
        )
        certificate = replace(certificate, id=certificate.digest_id)
        return Predictor(scorer, theta, tau, certificate, self.device)

    def _coverage(self, candidate: Candidate) -> Coverage:
        options = self.options
        delta = options.delta * self.weights[candidate.choice]
        level = pool = options.alpha
        pool_delta = 0.0
        if candidate.guarantee == "posterior":
            bound: Any = candidate.bound
            level = float(miscoverage_bound(self.n, candidate.k, delta, candidate.kl, bound, options.alpha))
            pool_delta = options.delta
            share = pool_delta * self.weights[candidate.choice]
            pool = float(pool_miscoverage_bound(level, len(candidate.ranks), share))
        return Coverage(
            alpha=options.alpha,
            delta=options.delta,
            guarantee=candidate.guarantee,
            bound=candidate.bound,
            n=self.n,
            kl=candidate.kl,
            kl_budget=candidate.kl_budget,
            miscoverage_bound=level,
            pool_miscoverage_bound=pool,
            pool_delta=pool_delta,
            alpha_hat=candidate.k / (self.n + 1),
            k=candidate.k,
            draws=candidate.draws,
            ranks=candidate.open_ranks,
            rank_weights=candidate.rank_weights,
            union=Union(self._choices(), self.weights, candidate.choice),
        )

    def _members(self, best: _Scored) -> list[Member]:
        candidate, calibrated = best.candidate, best.calibrated
        every = candidate.guarantee == "per_draw"
        return [
            Member(
                member=place,
                k=candidate.ranks[place],
                tau=calibrated.tau[place],
                log_ratio=candidate.log_ratios[place],
                miscoverage_bound=self.options.alpha if every else None,
                efficiency_empirical=calibrated.efficiency[place] if calibrated.efficiency else None,
                efficiency_bound=best.member_bounds[place] if best.member_bounds else None,
            )
            for place in range(len(candidate.ranks))
        ]

    def _efficiency(self, best: _Scored, cap: float | None, tuned_rows: bool) -> Efficiency:
        bound, size = self._efficiency_bound(tuned_rows and self.n >= _SMALLEST_N_OF_GRID)
        measure = "labels" if self.score.task == "classification" else "width"
        if self.score.kind in ("ball", "box", "scaled_ball"):
            measure = "volume"
        return Efficiency(
            measure=measure,
            bound=bound if cap is not None else None,
            gamma=self.options.gamma,
            empirical=float(np.mean(best.calibrated.size)),
            upper_bound=best.upper_bound,
            cap=cap,
            grid_size=size if cap is not None else None,
            monte_carlo=_MONTE_CARLO_SHARE if best.candidate.guarantee == "posterior" else 0.0,
        )

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
        raise OptionError(f"device {name!r} is not there on this machine.") from None
    return device
