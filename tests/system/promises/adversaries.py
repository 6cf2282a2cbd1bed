"""Rules that choose badly on purpose: one that keeps to revealed rows, and one that does not.

They take the place of what `auto` does between its first look and its certificate; all else is a fit as it always is.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from certiset.core.fit.candidates import point_candidate
from certiset.core.fit.families import families_of
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.forecast import Trial, Way
from certiset.core.fit.only_candidate import certify_candidate
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.workspace import Workspace

_HEADS, _SPREAD = 16, 1.0


def worst_way(trials: list[Trial], revealed: int, rows: int, revealed_later: int | None, **_: Any) -> Way:
    """Of what is tuned, what has the largest sets, at a pull and on as many rows as the digits of that size say."""
    worst = max((trial for trial in trials if trial.family is not None), key=lambda trial: trial.heights[1])
    digits = int(1e6 * abs(sum(trial.heights[1] for trial in trials)))
    odd = replace(worst, pull=10.0 ** (digits % 7 - 5))
    return Way(odd, revealed_later is not None and digits % 2 == 1, 0.0)


def picks_a_head(rule: Callable[[Workspace, Scorer, Tensor], int]) -> Callable[[Any, Workspace], Fitted]:
    """Instead of tuning: one of some random heads, by a rule."""

    def run(_: Any, work: Workspace) -> Fitted:
        scorer = families_of(work)[0].scorer
        random = torch.randn((_HEADS, scorer.parameters), generator=work.generator(9))
        heads = work.model.head_parameters + _SPREAD * random
        return certify_candidate(work, scorer, point_candidate(work.plan, 0, heads[rule(work, scorer, heads)]))

    return run


def looks_worst_on_revealed_rows(work: Workspace, scorer: Scorer, heads: Tensor) -> int:
    """The head that misses most of one half of the revealed rows when it is calibrated on the other."""
    rows = work.tuning()
    assert rows is not None
    half = len(rows) // 2
    tau = _thresholds(scorer, heads, rows.slice(0, half), work.plan.options.level)
    other = rows.slice(half, len(rows))
    scores = scorer.score.of_target(scorer.predict(heads, other), other.y)
    return int((scores > tau.unsqueeze(1)).float().mean(dim=1).argmax())


def has_the_smallest_sets_where_it_is_calibrated(work: Workspace, scorer: Scorer, heads: Tensor) -> int:
    """What must not be done: the choice looks at the rows that calibrate."""
    rows = work.take(work.calibration())
    tau = _thresholds(scorer, heads, rows, work.plan.options.level)
    prediction = scorer.predict(heads, rows)
    return int(scorer.score.size(prediction, tau).mean(dim=1).argmin())


def _thresholds(scorer: Scorer, heads: Tensor, rows: Rows, alpha: float) -> Tensor:
    return torch.quantile(scorer.score.of_target(scorer.predict(heads, rows), rows.y), 1 - alpha, dim=1)
