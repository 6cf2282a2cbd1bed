"""The paper's toy regression: y = cos(5x) + 0.3 e1 + 1.8 sigmoid(5x) e2, whose noise grows with x."""

import numpy as np
from numpy.typing import NDArray
from torch.nn.functional import mse_loss

from certiset.service.demo.base_models import train
from certiset.service.demo.problem import DemoProblem

WIDTHS = [1, 64, 64, 1]
TRAINING, CALIBRATION, TEST = 100, 1000, 2000
_SHOWN = (-0.8, 0.8)


def toy_rows(rows: int, random: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    x = random.uniform(-1, 1, (rows, 1))
    first, second = random.uniform(-0.5, 0.5, (2, rows, 1))
    y = np.cos(5 * x) + 0.3 * first + 1.8 * second / (1 + np.exp(-5 * x))
    return x.astype(np.float32), y.astype(np.float32)


def toy(seed: int = 0) -> DemoProblem:
    random = np.random.default_rng(seed)
    weights = train(*toy_rows(TRAINING, random), WIDTHS, mse_loss, steps=300, seed=seed)
    x, y = toy_rows(CALIBRATION, random)
    test_x, test_y = toy_rows(TEST, random)
    manifest = {
        "name": "toy regression",
        "task": "regression",
        "input_shape": [1],
        "backbone": {"kind": "none"},
        "head": {"kind": "mlp", "widths": WIDTHS, "activation": "relu"},
    }
    return DemoProblem(
        name="toy",
        title="toy regression",
        manifest=manifest,
        weights=weights,
        x=x,
        y=y[:, 0],
        test_x=test_x,
        test_y=test_y[:, 0],
        shown=tuple((f"{input:g}", [input]) for input in _SHOWN),
        # Wider than any useful interval; without it, the standard method has no tuning data to take a cap from.
        options={"size_cap": 4.0},
    )
