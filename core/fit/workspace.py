"""What the stages of a fit share: the rows on their device, who is told how far it is, and what was noticed."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from certiset.core.data.arrays import CheckedData
from certiset.core.errors import StoppedError
from certiset.core.fit.plan import Plan
from certiset.core.fit.rows import Rows, run_model, targets
from certiset.core.fit.scorer import Scorer, make_scorer
from certiset.core.fit.set_rules import make_rule
from certiset.core.fit.splitting import Split, count_units, split
from certiset.core.fit.target_unit import target_exponent
from certiset.core.models import Model
from certiset.core.posterior.input_units import InputUnits
from certiset.core.posterior.network import ScaleNetwork
from certiset.core.posterior.optimizer import Report, ShouldStop

Progress = Callable[[dict[str, Any]], None]
"""takes {phase, step, steps, fraction, metrics: {loss, kl, budget}}"""

_PHASES = {
    "prepare": (0.0, 0.05),
    "compare": (0.05, 0.3),
    "tune": (0.3, 0.65),
    "fit": (0.65, 0.85),
    "calibrate": (0.85, 1.0),
}


class Workspace:
    """One fit on its way from rows to members."""

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
        """what happened on the way that a reader should know"""
        self.report("prepare", 0, 1)
        first = self.split(plan.n_tune)
        features, outputs = run_model(model, data.x, device, self.dtype)
        # Of D_0, or of D_N where there is none: see there why that is allowed.
        known = first.calibration if first.tuning is None else first.tuning
        self.exponent = target_exponent(plan.score, data.y, outputs, known)
        self.rule = make_rule(plan.options, plan.score)
        digests = self.rule.ties.digests(data.x, self.dtype)
        self.rows = Rows(features, outputs, targets(data.y, self.exponent, device, self.dtype), digests)
        self.in_sequence = first.in_sequence

    def with_plan(self, plan: Plan) -> "Workspace":
        """The same work under a plan that revealed rows have settled."""
        settled = copy.copy(self)
        settled.plan = plan
        return settled

    @property
    def unit(self) -> str:
        """What is counted: rows, or clusters."""
        return count_units(self.data)[1]

    def split(self, n_tune: int) -> Split:
        """The same order of rows for every number that tunes: more of them takes the next ones."""
        return split(self.plan.options.seed, n_tune, self.data)

    def tuning(self, n_tune: int | None = None) -> Rows | None:
        """The first rows, or all rows of the first clusters; None where there are none."""
        places = self.split(self.plan.n_tune if n_tune is None else n_tune).tuning
        return None if places is None else self.take(places)

    def calibration(self, before: int | None = None, count: int | None = None) -> Tensor:
        """The places of the rows, one of each cluster, that follow on the first ``before``; all of them by default."""
        places = self.split(self.plan.n_tune if before is None else before).calibration
        return places if count is None else places[:count]

    def take(self, places: Tensor) -> Rows:
        return self.rows.take(places.to(self.device))

    def given_scorer(self) -> Scorer:
        """The model as given, with nothing to tune."""
        score = self.plan.score.without_scale()
        return Scorer(self.model, score, tunes_head=False, scale=None, exponent=self.exponent, rule=self.rule)

    def tuned_scorer(self) -> Scorer:
        """With the parameters that the options name."""
        plan, features = self.plan, self.rows.features.shape[1]
        made = make_scorer(self.model, plan.options, plan.score, tuned=True, features=features, exponent=self.exponent)
        return made if made.scale is None else replace(made, scale=self.scale_network())

    def scale_network(self) -> ScaleNetwork:
        """Of a score with a learned scale; the rows that tune say in which units it takes its inputs."""
        rows = self.tuning()
        units = None if rows is None else InputUnits.of(rows.features)
        return ScaleNetwork(self.rows.features.shape[1], units=units)

    def nothing_tuned(self) -> Tensor:
        """(0,): the parameters of a scorer that has none."""
        return torch.zeros(0, device=self.device, dtype=self.dtype)

    def generator(self, stage: int) -> torch.Generator:
        """Randomness of one stage, on the device that uses it."""
        return torch.Generator(self.device).manual_seed(self.plan.options.seed + stage)

    def optimizer_report(self, report: Report) -> None:
        best = int(np.argmin(report.loss))
        self.report(
            "fit",
            report.step,
            report.steps,
            loss=report.loss[best],
            kl=report.kl[best],
            budget=report.budget[best],
        )

    def report(self, phase: str, step: int, steps: int, **metrics: float) -> None:
        if self.progress is None:
            return
        start, end = _PHASES[phase]
        fraction = start + (end - start) * step / max(steps, 1)
        self.progress({"phase": phase, "step": step, "steps": steps, "fraction": fraction, "metrics": metrics})

    def stop_if_asked(self) -> None:
        if self.should_stop is not None and self.should_stop():
            raise StoppedError("The fit was asked to stop.")
