"""The score as it is, all rows to calibrate, the exact rank: what every other method is compared with."""

from typing import ClassVar

from certiset.core.fit.candidates import point_candidate
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.methods.base import Method, check_points
from certiset.core.fit.only_candidate import certify_candidate
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan
from certiset.core.fit.workspace import Workspace


class Standard(Method):
    bounds: ClassVar[tuple[str, ...]] = ("chernoff", "seeger", "vovk_2a", "vovk_2b")
    tunes: ClassVar[bool] = False
    split: ClassVar[float | None] = None

    def tuned_rows(self, options: FitOptions, rows: int) -> int | None:
        return 0

    def plan(self, options: FitOptions, rows: int, unit: str = "rows") -> Plan:
        score = options.chosen_score.without_scale()
        plan = Plan(options, score, 0, (rows,), ["the score as given"], [1.0])
        check_points(plan, unit, 0.0)
        return plan

    def run(self, work: Workspace) -> Fitted:
        scorer = work.given_scorer()
        candidate = point_candidate(work.plan, 0, work.nothing_tuned())
        return certify_candidate(work, scorer, candidate)


STANDARD = Standard("standard")
