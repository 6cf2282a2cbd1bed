"""The like-for-like data, where they are at hand: exactly what the authors' code was measured on."""

import os
from pathlib import Path

import numpy as np

from benchmarks.evidence.learning_problem import LearningProblem, head_weights
from benchmarks.evidence.mnist_data import head_model
from certiset.core.models import Model

_ROOT = Path(__file__).parent.parent
RESULTS = _ROOT / "docs" / "results"
"""where benchmarks keep what they measured"""


FILES = ("toy.npz", "mnist_features.npz")


class ReferenceMissingError(RuntimeError):
    """The reference data are not on this machine."""


def reference_folder(given: Path | None = None) -> Path:
    """The one that is given, or where CERTISET_REFERENCE says, or beside the project."""
    folder = given or Path(os.environ.get("CERTISET_REFERENCE", _ROOT.parent / "shared" / "reference"))
    if not all((folder / name).is_file() for name in FILES):
        raise ReferenceMissingError(f"There are no reference data in {folder}: set CERTISET_REFERENCE to their folder.")
    return folder


def toy(rows: int, folder: Path | None = None) -> LearningProblem:
    with np.load(reference_folder(folder) / "toy.npz", allow_pickle=False) as data:
        model = Model.from_manifest(
            {
                "name": "toy",
                "task": "regression",
                "input_shape": [1],
                "head": {"kind": "mlp", "widths": [1, 64, 64, 1], "activation": "relu"},
            },
            head_weights(data),
        )
        x, y = data[f"cal{rows}_x"], data[f"cal{rows}_y"]
        return LearningProblem(f"toy N = {rows}", model, x, y, data["test_x"], data["test_y"])


def mnist(rows: int, seed: int, folder: Path | None = None) -> LearningProblem:
    with np.load(reference_folder(folder) / "mnist_features.npz", allow_pickle=False) as data:
        order, x, y = data[f"perm_{seed}"], data["features"], data["y"]
        fitted, tested = order[:rows], order[5000:6000]
        return LearningProblem(
            f"MNIST N = {rows}, seed {seed}", head_model(data), x[fitted], y[fitted], x[tested], y[tested]
        )
