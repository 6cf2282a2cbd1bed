"""Ties that are broken where rounding is a large part of a cell, or more: coverage, certified sizes and replay."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import binom
from torch import Tensor

from certiset.core.fit import Predictor, fit, load
from certiset.core.fit.audit import audit
from certiset.core.fit.options import FitOptions
from certiset.core.fit.rows import Rows
from certiset.core.fit.saved_predictor import TENSORS, description_in
from certiset.core.fit.scorer import make_scorer
from certiset.core.fit.thresholds import calibrate
from certiset.core.fit.ties import Threshold
from certiset.core.models import Model
from tests.core.fit.problems import forest_votes, shifted_logits, shifted_logits_model
from tests.core.fit.test_arithmetic import permuted

CLASSES = 6
TIMES = 12


def through_large_numbers(level: float) -> Model:
    """Gives its six inputs back, by way of hidden units of that size, whose last places are lost on the way."""
    one = np.eye(CLASSES)
    return Model.from_manifest(
        {
            "task": "classification",
            "classes": CLASSES,
            "input_shape": [CLASSES],
            "head": {"kind": "mlp", "widths": [CLASSES, 2 * CLASSES, CLASSES], "activation": "relu"},
        },
        {
            "head.0.weight": np.concatenate([one, -one]),
            "head.0.bias": np.full(2 * CLASSES, level),
            "head.1.weight": np.concatenate([one, -one], axis=1) / 2,
            "head.1.bias": np.zeros(CLASSES),
        },
    )


def slack_in_cells(predictor: Predictor) -> float:
    """What the threshold lies above the edge of its cell."""
    width = predictor.scorer.rule.ties.width  # type: ignore[attr-defined]
    return float((predictor.certificate.members[0].tau / width - 0.5) % 1)


@pytest.mark.parametrize("level", [3e3, 3e4])
def test_coverage_and_certified_sizes_hold(level: float, tmp_path: Path) -> None:
    model = through_large_numbers(level)
    later, truths = forest_votes(4000, 10_000)
    missed, larger, above = [], [], []
    for seed in range(TIMES):
        predictor = fit(model, *forest_votes(500, seed), method="standard", ties="hash", seed=seed)
        assert level > 3e3 or 0.1 < slack_in_cells(predictor) < 0.9
        sets, efficiency = predictor.predict_set(later), predictor.certificate.efficiency
        elsewhere = permuted(predictor, 2 * CLASSES, seed).predict_set(later)
        missed += [1 - found.contains(truths).mean() for found in (sets, elsewhere)]
        assert efficiency.upper_bound is not None
        assert efficiency.quantile is not None
        larger.append(sets.size.mean() > efficiency.upper_bound)
        above.append((sets.size > efficiency.quantile.size).mean() > efficiency.quantile.share)
    likely = binom.ppf(0.9999, TIMES, 0.05)
    assert np.count_nonzero(np.array(missed[::2]) > 0.1 + 0.005) <= likely
    assert np.count_nonzero(np.array(missed[1::2]) > 0.1 + 0.005) <= likely
    assert sum(larger) <= likely
    assert sum(above) <= likely

    again = np.concatenate([predictor.predict_set(later[row : row + 1]).columns()["mask"] for row in range(40)])
    assert np.array_equal(again, sets.columns()["mask"][:40])
    predictor.save(tmp_path)
    assert load(tmp_path).predict_set(later).to_json() == sets.to_json()
    file = tmp_path / TENSORS
    described = description_in(file)
    assert described is not None
    agreed = audit(predictor.certificate, model, *forest_votes(500, TIMES - 1), file, described)
    assert all(check.ok for check in agreed), [check for check in agreed if not check.ok]


@dataclass(frozen=True)
class Slack:
    """Rows of reference that show one rounding error, whatever the member."""

    amount: float

    def slack(self, theta: Tensor, scores: Tensor) -> float:
        return self.amount


@pytest.mark.parametrize("share", [0.2, 3.4])
def test_the_quantile_of_sizes_is_that_of_a_family_in_order(share: float) -> None:
    """Stored thresholds are not: what they were raised by depends on the rows, and a hash may be smaller there."""
    options = FitOptions.read({"method": "standard", "ties": "hash"}).resolved("classification")
    model = shifted_logits_model()
    scorer = make_scorer(model, options, options.chosen_score, tuned=False, features=CLASSES)
    x, y = shifted_logits(3000, 1)
    outputs = torch.from_numpy(x)
    rows = Rows(outputs, outputs, torch.from_numpy(y), scorer.rule.ties.digests(x, torch.float32))
    nothing, reference = torch.zeros(1, 0), Slack(share * scorer.rule.ties.width)  # type: ignore[attr-defined]

    def found(size_rank: int) -> Any:
        arguments: dict[str, Any] = {"tuning": None, "cap": None, "sizes_at_grid": False, "reference": reference}
        return calibrate(scorer, nothing, rows, [200], size_ranks=[size_rank], **arguments)

    stored = found(1)
    threshold = Threshold(torch.tensor(stored.tau, dtype=torch.float32), torch.tensor(stored.tie, dtype=torch.float64))
    upper = scorer.rule.ties.rounded_up(threshold)
    prediction = scorer.predict(nothing, rows)
    served, measured = (scorer.size(prediction, at, rows)[0].sort().values for at in (threshold, upper))
    assert (measured >= served).all()
    (differing,) = np.nonzero((measured > served).numpy())
    assert len(differing)
    place = int(differing[0])
    assert found(len(rows) - place).size_quantile == [float(measured[place])]
