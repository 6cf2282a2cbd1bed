"""A score of another package that goes on from one of ours: fitted, and verified by who has never heard of it."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import certiset
from certiset.core.scores import SCORES
from certiset.core.scores.ball import Ball
from certiset.core.scores.residual import Residual
from certiset.core.scores.scaled_residual import ScaledResidual

MODEL = {"name": "outputs", "task": "regression"}


class Distance(Residual):
    """Its sets have one size, which follows from the threshold; but no auditor knows."""

    kind: ClassVar[str] = "distance"


class Radius(Ball):
    kind: ClassVar[str] = "radius"


class Spread(ScaledResidual):
    kind: ClassVar[str] = "spread"


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    found = SCORES.kinds
    vars(SCORES)["kinds"] = {**found, **{score.kind: score for score in (Distance, Radius, Spread)}}
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
