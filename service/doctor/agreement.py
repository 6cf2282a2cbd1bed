"""One small problem on two devices: scores, thresholds and sets must be the same, up to rounding.

Random numbers differ between devices, so that members drawn on one are none of the other's. A standard fit draws
nothing, and its thresholds are compared as they are. Of a learned fit, the members that one device has drawn are
evaluated on both.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.data.arrays import CheckedData
from certiset.core.fit import Predictor, fit
from certiset.core.fit.rows import on_device
from certiset.core.models import Model

_ROWS, _CLASSES = 600, 3
_QUICK: dict[str, Any] = {"prior": {"steps": 60}, "optimizer": {"steps": 20}, "members": 8}
_ROUNDING = 1e-3
_SETS = 0.01
"""share of sets that may differ: those of a label whose score is the threshold, up to rounding"""


@dataclass(frozen=True)
class Agreement:
    scores: float
    """largest difference, relative to the largest score"""
    thresholds: float
    """likewise"""
    sets: int
    """that differ in some label"""
    rows: int

    @property
    def is_rounding(self) -> bool:
        # Not a number must not pass for a small one.
        return self.scores <= _ROUNDING and self.thresholds <= _ROUNDING and self.sets <= _SETS * self.rows


def compare(device: str, reference: str = "cpu") -> Agreement:
    model, x, y = _problem()
    first, second = (fit(model, x, y, alpha=0.1, delta=0.05, method="standard", device=d) for d in (device, reference))
    here = fit(model, x, y, alpha=0.1, delta=0.05, device=device, **_QUICK)
    there = replace(here, device=torch.device(reference))
    members = np.arange(len(x)) % here.members
    sets_here, sets_there = (p.predict_set(x, member=members).to_json() for p in (here, there))
    return Agreement(
        scores=_difference(_scores(here, x, y), _scores(there, x, y)),
        thresholds=_difference(first.tau.numpy(), second.tau.numpy()),
        sets=sum(a != b for a, b in zip(sets_here, sets_there, strict=True)),
        rows=len(x),
    )


def _scores(predictor: Predictor, x: NDArray[np.float32], y: NDArray[np.int64]) -> NDArray[np.float32]:
    """(members, rows)"""
    theta = predictor.theta.to(predictor.device)
    with torch.no_grad():
        rows = on_device(predictor.scorer.model, CheckedData(x, y), predictor.device, theta.dtype)
        found = predictor.scorer.score.of_target(predictor.scorer.predict(theta, rows), rows.y)
    scores: NDArray[np.float32] = found.cpu().numpy()
    return scores


def _difference(found: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    return float(np.abs(found - expected).max() / max(float(np.abs(expected).max()), 1e-12))


def _problem() -> tuple[Model, NDArray[np.float32], NDArray[np.int64]]:
    """Three Gaussian classes around a circle, and a small network for them."""
    rng = np.random.default_rng(0)
    angles = 2 * np.pi * np.arange(_CLASSES) / _CLASSES
    centers = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    y = rng.integers(_CLASSES, size=_ROWS)
    x = rng.normal(size=(_ROWS, 2)) + 1.5 * centers[y]
    first = rng.normal(size=(16, 2))
    weights = {
        "head.0.weight": first,
        "head.0.bias": np.zeros(16),
        "head.1.weight": centers @ np.linalg.pinv(first),
        "head.1.bias": np.zeros(_CLASSES),
    }
    manifest = {
        "name": "doctor",
        "task": "classification",
        "classes": _CLASSES,
        "input_shape": [2],
        "head": {"kind": "mlp", "widths": [2, 16, _CLASSES], "activation": "tanh"},
    }
    return Model.from_manifest(manifest, weights), x.astype(np.float32), y
