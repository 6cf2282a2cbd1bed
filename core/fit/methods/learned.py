"""Tuned on D_0, then calibrated on D_N as it is: one member, by the exact rank."""

from typing import ClassVar

from certiset.core.fit.candidates import point_candidate
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.methods.base import Method, check_points
from certiset.core.fit.only_candidate import certify_candidate
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import DEFAULT_SPLIT, Plan, tuning_count
from certiset.core.fit.tuning import tune_prior
from certiset.core.fit.workspace import Workspace


class Learned(Method):
    bounds: ClassVar[tuple[str, ...]] = ("chernoff", "seeger", "vovk_2a", "vovk_2b")

    def plan(self, options: FitOptions, rows: int, unit: str = "rows") -> Plan:
        n_tune = tuning_count(options, rows)
        plan = Plan(options, options.chosen_score, n_tune, (rows - n_tune,), ["tuned on D_0"], [1.0])
        check_points(plan, unit, DEFAULT_SPLIT if options.prior.split is None else options.prior.split)
        return plan

    def run(self, work: Workspace) -> Fitted:
        scorer = work.tuned_scorer()
        prior = tune_prior(work, scorer, is_drawn_from=False)
        return certify_candidate(work, scorer, point_candidate(work.plan, 0, prior.mean))


LEARNED = Learned("learned")
