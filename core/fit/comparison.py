"""Candidates compared on revealed rows: each by cross-validation, relative to the model as given."""

import numpy as np
import torch
from torch import Tensor

from certiset.core.certificate.selection import Compared, Selection
from certiset.core.fit.cross_validation import cross_validate, size_curve
from certiset.core.fit.families import Family
from certiset.core.fit.forecast import TYPICAL_FALL, Trial
from certiset.core.fit.workspace import Workspace

_MOST_ROWS = 2000
"""of cross-validation: more would tell little more"""
_REPORTED_STEPS = 100
"""of a phase whose parts take different times"""


def compare(
    work: Workspace,
    revealed: int,
    families: list[Family],
    shares: tuple[float, ...] = (1.0,),
    folds: int = 2,
    done: float = 0.0,
) -> list[Trial]:
    """Every candidate on the first ``revealed`` rows, the model as given before all others.

    ``shares`` of what could tune are tried, fewest first; ``done`` is the part of this phase that is over.
    """
    options, places = work.plan.options, work.split(revealed).tuning
    assert places is not None
    places = places[:_MOST_ROWS]
    rows, fold_of = work.take(places), _folds(work, places, folds)
    scorer = work.given_scorer()
    with torch.no_grad():
        given = size_curve(scorer, scorer.predict(work.nothing_tuned().unsqueeze(0), rows), rows.y, options.level)
    level = given.height[0]
    trials = [Trial(None, 0.0, (0, 0), (0.0, 0.0), given.slope[0])]
    for number, family in enumerate(families):
        looks = []
        tried = shares if family.learns_slowly else shares[-1:]
        for place, share in enumerate(tried):
            step = done + (1 - done) * (number + place / len(tried)) / len(families)
            work.report("compare", int(_REPORTED_STEPS * step), _REPORTED_STEPS)
            work.stop_if_asked()
            generator = work.generator(3)
            looks.append(cross_validate(family, rows, fold_of, share, options, generator, work.should_stop))
        (few, few_rows), (more, more_rows) = looks[0], looks[-1]
        trials += [
            Trial(
                family,
                pull,
                (few_rows, more_rows),
                (few.height[place] - level, more.height[place] - level),
                more.slope[place],
                TYPICAL_FALL if place == 0 and family.is_free(more_rows) else 0.0,
            )
            for place, pull in enumerate(family.pulls)
        ]
    work.stop_if_asked()
    return trials


def _folds(work: Workspace, places: Tensor, folds: int) -> Tensor:
    """(n,): rows of one cluster are in one fold."""
    if work.data.clusters is None:
        return torch.arange(len(places)) % folds
    codes = np.unique(work.data.clusters[places.numpy()], return_inverse=True)[1]
    return torch.from_numpy(codes) % folds


def selection_of(revealed: int, looks: list[Trial], taken: Trial, reason: str) -> Selection:
    """What the certificate says about it."""
    compared = [
        Compared(trial.name, trial.rows[1], round(float(np.exp(trial.heights[1])), 4))
        for trial in looks
        if trial.family is not None
    ]
    return Selection(revealed, compared, taken.name, reason)
