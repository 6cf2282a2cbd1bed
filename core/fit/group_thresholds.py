"""A threshold for every class: each from the scores of its own rows, all of them together in every set."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from certiset.core.fit.reference_rows import ReferenceRows
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import ROWS_AT_ONCE, predict_rows
from certiset.core.fit.ties import Threshold
from certiset.core.scores import ModelOutputs
from certiset.core.scores.labels import LabelScore

_SMALL_THRESHOLD = 2.0**-10


@dataclass(frozen=True)
class ClassThresholds:
    tau: list[float]
    """one for each class, infinite where it has too few rows"""
    tie: list[float] | None
    rounding: float
    """the largest share by which one was raised"""

    def of_labels(self, like: Tensor) -> Threshold:
        """(1, classes)"""
        tie = None if self.tie is None else torch.tensor([self.tie], dtype=torch.float64)
        return Threshold(torch.tensor([self.tau], dtype=like.dtype, device=like.device), tie)


@torch.no_grad()
def class_thresholds(
    scorer: Scorer, theta: Tensor, rows: Rows, ranks: list[int], reference: ReferenceRows | None
) -> ClassThresholds:
    """At each class's rank (0: none) among its own rows, raised by a rounding error as thresholds for all are."""
    prediction = predict_rows(scorer, theta, rows)
    scores = scorer.score.of_target(prediction, rows.y)[0]
    slack = 0.0 if reference is None else reference.slack(theta, scores)
    tau, tie, raised = [], [], 0.0
    for label, rank in enumerate(ranks):
        if not rank:
            tau.append(np.inf)
            tie.append(0.0)
            continue
        own = (rows.y == label).nonzero()[:, 0]
        found = scorer.rule.ties.threshold(scores[own], rows.take(own), rank)
        rounding = scorer.score.rounding(prediction, found.tau).clamp(min=slack)
        raised = max(raised, float(rounding / found.tau.abs().clamp(min=_SMALL_THRESHOLD)))
        tau.append(float(found.tau + rounding))
        tie += [] if found.tie is None else [float(found.tie)]
    broken = len(tie) == len(ranks) and scorer.rule.ties.to_json() is not None
    return ClassThresholds(tau, tie if broken else None, raised)


@torch.no_grad()
def mean_sizes_by_class(scorer: Scorer, theta: Tensor, rows: Rows, thresholds: ClassThresholds) -> list[float | None]:
    """Of the sets of the rows of each class; None where it has no rows."""
    assert isinstance(scorer.score, LabelScore)
    totals = torch.zeros(len(thresholds.tau), dtype=torch.float64)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = rows.slice(start, start + ROWS_AT_ONCE)
        sizes = _sizes(scorer, predict_rows(scorer, theta, part), part, thresholds)
        totals.index_add_(0, part.y.cpu(), sizes.cpu().double())
    counts = torch.bincount(rows.y.cpu(), minlength=len(thresholds.tau))
    return [float(total / count) if count else None for total, count in zip(totals, counts, strict=True)]


def _sizes(scorer: Scorer, prediction: ModelOutputs, rows: Rows, thresholds: ClassThresholds) -> Tensor:
    return scorer.rule.size_by_class(scorer.score, prediction, thresholds.of_labels(prediction.outputs), rows.digests)[
        0
    ]
