"""How small the sets of a tuned model would be, measured on revealed rows that it was not tuned on.

Sets are measured at thresholds around the level that will be used, which are taken from the same held-out scores: what
counts is which rows and labels a model confuses, and not how confident it is. A proper score would count that too, and
speak against a tuned head long before its sets stop being smaller.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from certiset.core.fit.families import Family
from certiset.core.fit.options import FitOptions
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.tuning import tune_pulled
from certiset.core.posterior.optimizer import ShouldStop
from certiset.core.scores import ModelOutputs

_LEVELS = (0.5, 0.75, 1.0, 1.25, 1.5)
"""of alpha: a mean over some of them varies less than one quantile of few rows"""
_SMALLEST = 1e-30


@dataclass(frozen=True)
class SizeCurve:
    """Log mean sizes at levels around alpha, (candidates, levels)."""

    log_sizes: Tensor

    @property
    def height(self) -> list[float]:
        """The mean over the levels, one number for each candidate."""
        return self.log_sizes.mean(dim=1).tolist()

    @property
    def slope(self) -> list[float]:
        """d log size / d log level: what a lower level costs; never above 0."""
        x = torch.tensor(_LEVELS, dtype=torch.float64).log()
        x = x - x.mean()
        return (self.log_sizes @ x / x.square().sum()).clamp(max=0.0).tolist()


@torch.no_grad()
def size_curve(scorer: Scorer, prediction: ModelOutputs, y: Tensor, alpha: float) -> SizeCurve:
    """Of predictions (candidates, n, outputs), with thresholds between the order statistics of their own scores."""
    scores = scorer.score.of_target(prediction, y).sort(dim=1).values
    n, columns = scores.shape[1], []
    for share in _LEVELS:
        place = min(max((n + 1) * (1 - share * alpha) - 1, 0.0), n - 1.0)
        low = int(place)
        tau = torch.lerp(scores[:, low], scores[:, min(low + 1, n - 1)], place - low)
        columns.append(scorer.score.size(prediction, tau).double().mean(dim=1))
    return SizeCurve(torch.stack(columns, dim=1).clamp(min=_SMALLEST).log().cpu())


def cross_validate(
    family: Family,
    rows: Rows,
    folds: Tensor,
    share: float,
    options: FitOptions,
    generator: torch.Generator,
    should_stop: ShouldStop | None = None,
) -> tuple[SizeCurve, int]:
    """The curve of each pull of the family, and how many rows tuned it.

    ``folds`` says in which fold each row is measured; of the others ``share`` tunes: less than all of them tells how
    the sizes fall with more rows.
    """
    outputs: Tensor | None = None
    scale: Tensor | None = None
    used = 0
    for fold in range(int(folds.max()) + 1):
        held_out = (folds == fold).nonzero()[:, 0].to(rows.y.device)
        others = (folds != fold).nonzero()[:, 0].to(rows.y.device)
        others = others[: max(2, int(share * len(others)))]
        used = max(used, len(others))
        theta = tune_pulled(
            family.scorer,
            rows.take(others),
            list(family.pulls),
            options,
            family.trial,
            generator,
            should_stop=should_stop,
        )
        with torch.no_grad():
            prediction = family.scorer.predict(theta, rows.take(held_out))
        if outputs is None:
            shape = (len(family.pulls), len(rows))
            outputs = prediction.outputs.new_zeros(*shape, prediction.outputs.shape[2])
            scale = None if prediction.scale is None else prediction.scale.new_zeros(shape)
        outputs[:, held_out] = prediction.outputs.expand(len(family.pulls), -1, -1)
        if scale is not None and prediction.scale is not None:
            scale[:, held_out] = prediction.scale
    assert outputs is not None
    return size_curve(family.scorer, ModelOutputs(outputs, scale), rows.y, options.level), used
