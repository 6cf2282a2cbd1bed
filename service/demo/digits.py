"""Handwritten digits, 8 x 8: learned clean, calibrated and tested moved by a pixel and under noise.

The paper does the same to MNIST: a base model meets data that are not quite those it has learned from, and the
calibration data, which are, can mend it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from torch.nn.functional import cross_entropy

from service.demo.base_models import train
from service.demo.problem import Problem

WIDTHS = [64, 64, 10]
TRAINING, CALIBRATION = 397, 900
NOISE = 0.3
"""standard deviation, of pixels from 0 to 1"""


def digits(seed: int = 0) -> Problem:
    random = np.random.default_rng(seed)
    bundled = load_digits()
    order = random.permutation(len(bundled.target))
    clean, labels = (bundled.data[order] / 16).astype(np.float32), bundled.target[order].astype(np.int64)
    weights = train(clean[:TRAINING], labels[:TRAINING], WIDTHS, cross_entropy, steps=200, seed=seed)
    seen = _moved(clean) + random.normal(scale=NOISE, size=clean.shape).astype(np.float32)
    manifest = {
        "name": "digits",
        "task": "classification",
        "classes": 10,
        "input_shape": [64],
        "backbone": {"kind": "none"},
        "head": {"kind": "mlp", "widths": WIDTHS, "activation": "relu"},
    }
    calibration, test = slice(TRAINING, TRAINING + CALIBRATION), slice(TRAINING + CALIBRATION, None)
    held = seen[calibration], labels[calibration], seen[test], labels[test]
    return Problem("digits", "digits, moved and noisy", manifest, weights, *held)


def _moved(images: NDArray[Any]) -> NDArray[Any]:
    """One pixel to the right; what leaves the image is lost."""
    answer = np.zeros_like(images).reshape(-1, 8, 8)
    answer[:, :, 1:] = images.reshape(-1, 8, 8)[:, :, :-1]
    return answer.reshape(images.shape)
