"""Sizes on revealed rows: each row is measured by models that were not tuned on it, nor on a row of its cluster."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from certiset.core.fit import comparison, cross_validation
from certiset.core.fit.cross_validation import cross_validate, size_curve
from certiset.core.fit.families import Family, families_of
from certiset.core.fit.fitting import check
from certiset.core.fit.model_defaults import TuningSchedule
from certiset.core.fit.options import FitOptions
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.workspace import Workspace
from certiset.core.models import Model
from certiset.core.scores import ModelOutputs
from tests.core.fit.problems import class_data, class_model, untrained, untrained_model

OPTIONS = FitOptions.read({"score": "residual", "tune": "head"}).resolved("regression")
MODEL = Model.from_manifest({"task": "regression", "input_shape": [1]})
RESIDUAL = Scorer(MODEL, OPTIONS.chosen_score, tunes_head=True, scale=None)
SCHEDULE = TuningSchedule(steps=5, rate=0.1, batch=8)


def rows_of(count: int) -> Rows:
    """Each row knows its place."""
    places = torch.arange(count, dtype=torch.float32).view(-1, 1)
    return Rows(places, places, places)


@dataclass
class Seen:
    """A scorer that remembers which rows it was asked about, under parameters that name their fold."""

    score: Any = OPTIONS.chosen_score
    tuned: list[list[int]] = field(default_factory=list)
    measured: list[tuple[int, list[int]]] = field(default_factory=list)

    def tune(self, _scorer: Any, rows: Rows, pulls: list[float], *_: Any, **__: Any) -> Tensor:
        self.tuned.append(rows.features[:, 0].int().tolist())
        return torch.full((len(pulls), 1), float(len(self.tuned) - 1))

    def predict(self, theta: Tensor, rows: Rows) -> ModelOutputs:
        self.measured.append((int(theta[0, 0]), rows.features[:, 0].int().tolist()))
        return ModelOutputs(rows.outputs.expand(len(theta), -1, -1) + 1, None)


def measured(monkeypatch: pytest.MonkeyPatch, folds: Tensor, share: float = 1.0) -> tuple[Seen, int]:
    seen = Seen()
    monkeypatch.setattr(cross_validation, "tune_pulled", seen.tune)
    scorer: Any = seen
    family = Family("head", scorer, (0.1, 1.0), SCHEDULE, SCHEDULE, learns_slowly=True)
    _, used = cross_validate(family, rows_of(len(folds)), folds, share, OPTIONS, torch.Generator())
    return seen, used


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
@pytest.mark.parametrize(("count", "folds"), [(30, 3), (31, 2), (7, 5)])
def test_every_row_is_measured_once_by_a_model_that_has_not_seen_it(
    monkeypatch: pytest.MonkeyPatch, count: int, folds: int, share: float
) -> None:
    fold_of = torch.randperm(count, generator=torch.Generator().manual_seed(0)) % folds
    seen, used = measured(monkeypatch, fold_of, share)
    assert sorted(row for _, rows in seen.measured for row in rows) == list(range(count))
    for fold, rows in seen.measured:
        assert not set(rows) & set(seen.tuned[fold])
        others = count - len(rows)
        assert len(seen.tuned[fold]) == max(2, int(share * others))
    assert used == max(map(len, seen.tuned))


def test_fewer_rows_are_some_of_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    folds = torch.arange(60) % 3
    few, more = (measured(monkeypatch, folds, share)[0].tuned for share in (0.5, 1.0))
    assert all(set(some) < set(all_) for some, all_ in zip(few, more, strict=True))


@pytest.mark.parametrize("clusters", [False, True])
def test_rows_of_one_cluster_are_in_one_fold(monkeypatch: pytest.MonkeyPatch, clusters: bool) -> None:
    asked: list[tuple[Rows, Tensor]] = []
    inner = cross_validation.cross_validate

    def remember(family: Family, rows: Rows, folds: Tensor, *rest: Any) -> Any:
        asked.append((rows, folds))
        return inner(family, rows, folds, *rest)

    monkeypatch.setattr(comparison, "cross_validate", remember)
    x, y = untrained(1200, 0)
    x[:, 0] = np.arange(1200)
    number = np.random.default_rng(0).permutation(np.arange(1200) // 3)
    given: dict[str, Any] = {"clusters": number} if clusters else {}
    data, plan = check(untrained_model(), x, y, prior={"steps": 2}, **given)
    work = Workspace(untrained_model(), data, plan, torch.device("cpu"), None, None)
    comparison.compare(work, 120, families_of(work), folds=3)
    (rows, folds), *_ = asked
    assert len(rows) == len(folds) == (360 if clusters else 120)
    assert sorted(torch.bincount(folds).tolist()) == sorted([len(rows) // 3] * 3)
    if clusters:
        of_rows = number[rows.features[:, 0].long().numpy()]
        for cluster in np.unique(of_rows):
            assert len(set(folds[torch.from_numpy(of_rows == cluster)].tolist())) == 1


def test_only_revealed_rows_are_looked_at() -> None:
    x, y = class_data(900, 0)
    data, plan = check(class_model(), x, y, prior={"steps": 2})
    first = Workspace(class_model(), data, plan, torch.device("cpu"), None, None)
    before = comparison.compare(first, 180, families_of(first))
    hidden = first.split(180).calibration.numpy()
    x, y = x.copy(), y.copy()
    x[hidden], y[hidden] = -x[hidden] * 5, (y[hidden] + 1) % 3
    data, plan = check(class_model(), x, y, prior={"steps": 2})
    second = Workspace(class_model(), data, plan, torch.device("cpu"), None, None)
    after = comparison.compare(second, 180, families_of(second))
    assert [(t.name, t.rows, t.heights, t.slope) for t in after] == [
        (t.name, t.rows, t.heights, t.slope) for t in before
    ]


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_errors_of_twice_the_size_give_sets_of_twice_the_size(factor: float) -> None:
    errors = torch.randn(500, 1, generator=torch.Generator().manual_seed(0))
    outputs = torch.stack([errors, factor * errors])
    curve = size_curve(RESIDUAL, ModelOutputs(outputs, None), torch.zeros(500, 1), 0.1)
    assert curve.height[1] - curve.height[0] == pytest.approx(math.log(factor), abs=1e-4)
    assert curve.slope[0] == pytest.approx(curve.slope[1], abs=1e-4)
    assert curve.slope[0] < 0
    assert (curve.log_sizes.diff(dim=1) <= 0).all(), "a higher level, a smaller set"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_handful_of_rows_is_enough_for_a_curve(count: int) -> None:
    outputs = torch.randn(3, count, 1, generator=torch.Generator().manual_seed(0))
    curve = size_curve(RESIDUAL, ModelOutputs(outputs, None), torch.zeros(count, 1), 0.1)
    assert all(map(math.isfinite, curve.height + curve.slope))
