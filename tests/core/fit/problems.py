"""Small problems that fit in a second: the paper's toy regression and three Gaussian classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.models import Model

Arrays = tuple[NDArray[Any], NDArray[Any]]

QUICK: dict[str, Any] = {"prior": {"steps": 60}, "optimizer": {"steps": 20}, "members": 8}
"""options that make a fit quick; its promises do not depend on them"""

STEPS_PAY: dict[str, Any] = {
    "method": "pac_bayes",
    "prior": {"train": "none", "scale": 1.0},
    "optimizer": {"steps": 300, "draws": 4},
    "members": 8,
    "alpha_hat": [0.05, 0.06, 0.065],
}
"""options under which a posterior step on `shifted_logits` is worth its nats"""


def toy_data(rows: int, seed: int) -> Arrays:
    """y = cos(5x) + 0.3 e1 + 1.8 sigmoid(5x) e2: noise that grows with x."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (rows, 1))
    first, second = rng.uniform(-0.5, 0.5, (2, rows, 1))
    y = np.cos(5 * x) + 0.3 * first + 1.8 * second / (1 + np.exp(-5 * x))
    return x.astype(np.float32), y.astype(np.float32)


def toy_model() -> Model:
    """A fixed cosine-like network: enough to leave residuals that grow with x."""
    knots = np.linspace(-1, 1, 41)
    slopes = np.diff(np.cos(5 * knots)) / np.diff(knots)
    weights = {
        "head.0.weight": np.ones((41, 1)),
        "head.0.bias": np.concatenate([-knots[:-1], [10.0]]),
        "head.1.weight": np.concatenate([[slopes[0]], np.diff(slopes), [0.0]])[None, :],
        "head.1.bias": np.array([np.cos(-5.0)]),
    }
    return Model.from_manifest(
        {
            "name": "toy",
            "task": "regression",
            "input_shape": [1],
            "backbone": {"kind": "none"},
            "head": {"kind": "mlp", "widths": [1, 41, 1], "activation": "relu"},
        },
        weights,
    )


def class_data(rows: int, seed: int, classes: int = 3) -> Arrays:
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    x = rng.normal(size=(rows, 2)) + 1.5 * np.stack(
        [np.cos(2 * np.pi * y / classes), np.sin(2 * np.pi * y / classes)], 1
    )
    return x.astype(np.float32), y


def class_model(classes: int = 3) -> Model:
    angles = 2 * np.pi * np.arange(classes) / classes
    first = np.random.default_rng(0).normal(size=(16, 2))
    target = np.stack([np.cos(angles), np.sin(angles)], 1)
    return Model.from_manifest(
        {
            "name": "classes",
            "task": "classification",
            "classes": classes,
            "input_shape": [2],
            "head": {"kind": "mlp", "widths": [2, 16, classes], "activation": "tanh"},
        },
        {
            "head.0.weight": first,
            "head.0.bias": np.zeros(16),
            "head.1.weight": target @ np.linalg.pinv(first),
            "head.1.bias": np.zeros(classes),
        },
    )


def shifted_logits(rows: int, seed: int) -> Arrays:
    """Logits computed elsewhere, with a wrong shift for two of six classes."""
    x, y = class_data(rows, seed, classes=6)
    angles = 2 * np.pi * np.arange(6) / 6
    logits = 1.5 * x @ np.stack([np.cos(angles), np.sin(angles)])
    return (logits + np.array([4.0, 0, 0, -4.0, 0, 0])).astype(np.float32), y


def shifted_logits_model() -> Model:
    return Model.from_manifest(
        {"name": "logits", "task": "classification", "classes": 6, "input_shape": [6], "head": {"kind": "identity"}}
    )


def untrained(rows: int, seed: int) -> Arrays:
    """Four Gaussian classes in twenty dimensions, for a head that knows nothing of them: the more rows, the better."""
    rng = np.random.default_rng(seed)
    centres = 2.4 / np.sqrt(20) * np.random.default_rng(99).normal(size=(4, 20))
    y = rng.integers(4, size=rows)
    return (centres[y] + rng.normal(size=(rows, 20))).astype(np.float32), y


def untrained_model() -> Model:
    return Model.from_manifest(
        {
            "name": "untrained",
            "task": "classification",
            "classes": 4,
            "input_shape": [20],
            "head": {"kind": "mlp", "widths": [20, 4], "activation": "relu"},
        },
        {"head.0.weight": 0.05 * np.random.default_rng(0).normal(size=(4, 20)), "head.0.bias": np.zeros(4)},
    )


def forest_votes(rows: int, seed: int) -> Arrays:
    """Log-probabilities of six classes by fifteen trees: scores have few values, while most rows differ."""
    rng = np.random.default_rng(seed)
    y = rng.integers(6, size=rows)
    logits = 2.0 * np.eye(6)[y] + 1.2 * rng.normal(size=(rows, 6))
    votes = rng.multinomial(15, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
    return np.log(np.clip(votes / 15, 1e-6, None)).astype(np.float32), y


def changed(array: NDArray[Any], place: Any, value: float) -> NDArray[Any]:
    """A copy with one entry changed."""
    answer = array.astype(np.float64)
    answer[place] = value
    return answer
