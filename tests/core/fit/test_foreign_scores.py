"""Scores of another package: certified for what they are, and verified by who has never heard of them."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

import certiset
from certiset.core.errors import OptionError
from certiset.core.scores import SCORES
from certiset.core.scores.ball import Ball
from certiset.core.scores.base import ModelOutputs, Score, broadcast
from certiset.core.scores.residual import Residual
from certiset.core.scores.scaled_residual import ScaledResidual
from certiset.core.sets import LabelSets, PredictionSets
from certiset.core.tasks import Task

MODEL = {"name": "outputs", "task": "regression"}


class Distance(Residual):
    """Its sets have one size, which follows from the threshold; but no auditor knows."""

    kind: ClassVar[str] = "distance"


class Radius(Ball):
    kind: ClassVar[str] = "radius"


class Spread(ScaledResidual):
    kind: ClassVar[str] = "spread"


class Margin(Score):
    """How much less likely a label is than the likeliest, by a score that has nothing of ours."""

    kind: ClassVar[str] = "margin"
    task: ClassVar[Task] = "classification"
    sets: ClassVar[type[PredictionSets]] = LabelSets

    def check(self, outputs: int, targets: int) -> None:
        pass

    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        found = self._of_labels(prediction)
        return found.gather(2, y.view(1, -1, 1).expand(len(found), -1, 1)).squeeze(2)

    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        masks = self._of_labels(prediction) <= broadcast(tau).unsqueeze(-1)
        return [LabelSets(mask) for mask in masks.cpu().numpy()]

    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        return (self._of_labels(prediction) <= broadcast(tau).unsqueeze(-1)).sum(dim=-1).to(tau.dtype)

    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        return torch.sigmoid((broadcast(tau).unsqueeze(-1) - self._of_labels(prediction)) / temperature).sum(dim=-1)

    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        return self.of_target(prediction, y).mean(dim=1)

    def size_cap(self, outputs: int, tuning_targets: Tensor | None) -> float | None:
        return 3.0

    def _of_labels(self, prediction: ModelOutputs) -> Tensor:
        return prediction.outputs.amax(dim=-1, keepdim=True) - prediction.outputs


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    found = SCORES.kinds
    vars(SCORES)["kinds"] = {**found, **{score.kind: score for score in (Distance, Margin, Radius, Spread)}}
    yield
    vars(SCORES)["kinds"] = found


@pytest.mark.parametrize("method", ["standard", "learned", "progressive"])
@pytest.mark.parametrize("kind", ["distance", "radius", "spread"])
def test_it_is_certified_as_any_other(kind: str, method: str) -> None:
    _check(kind, method=method)


@pytest.mark.parametrize("kind", ["distance", "radius"])
def test_it_is_certified_for_all_levels(kind: str) -> None:
    _check(kind, method="standard", alpha="all")


@pytest.mark.parametrize("kind", ["distance", "radius"])
def test_it_is_certified_by_group(kind: str) -> None:
    _check(kind, method="standard", groups=np.repeat([0, 1], 300))


def _check(kind: str, **options: Any) -> None:
    random = np.random.default_rng(3)
    dimensions = 2 if kind == "radius" else 1
    model = certiset.Model.from_manifest({**MODEL, "input_shape": [dimensions]}, {})
    x = random.normal(size=(600, dimensions))
    y = (x + random.normal(size=x.shape)).squeeze()
    if options["method"] != "standard":
        options["prior"] = {"steps": 5}
    certificate = certiset.fit(model, x, y, score=kind, size_cap=1e3, progress=False, **options).certificate
    vars(SCORES)["kinds"] = SCORES.own
    verification = certificate.verify()
    assert verification.valid, [check for check in verification.checks if not check.ok]
    sizes = [group.size for group in certificate.groups or []] or [certificate.efficiency.empirical]
    bounds = [group.upper_bound for group in certificate.groups or []] or [certificate.efficiency.upper_bound]
    assert all(
        bound is not None and size is not None and size < bound for bound, size in zip(bounds, sizes, strict=True)
    )


@pytest.mark.parametrize("method", ["standard", "learned", "progressive"])
def test_labels_are_counted_up_to_all_of_them_whatever_the_score_says(method: Any) -> None:
    """A smaller cap would cut sets, and certify a mean size below the true one."""
    model, x, y = _classes()
    predictor = certiset.fit(model, x, y, score="margin", method=method, prior={"steps": 5}, progress=False)
    size = predictor.certificate.efficiency
    assert size.cap == 4
    assert size.upper_bound is not None
    assert size.upper_bound > size.empirical > 2
    assert predictor.certificate.verify().valid


@pytest.mark.parametrize(("field", "value"), [("ties", "hash"), ("non_empty", True), ("groups", "class")])
def test_what_needs_the_scores_of_all_labels_is_refused(field: str, value: Any) -> None:
    options: dict[str, Any] = {field: value}
    with pytest.raises(OptionError, match=f"^{field} needs the scores of all labels") as caught:
        certiset.fit(*_classes(), score="margin", progress=False, **options)
    assert caught.value.field == field


def _classes() -> tuple[certiset.Model, Any, Any]:
    random = np.random.default_rng(0)
    model = certiset.Model.from_manifest({"task": "classification", "classes": 4, "input_shape": [4]}, {})
    x = random.normal(size=(600, 4))
    y = (x + random.normal(size=x.shape)).argmax(axis=1)
    return model, x, y
