"""Handwritten digits, 8 x 8: trained on clean images, calibrated and tested on shifted and noisy ones.

The paper does the same to MNIST: a base model is used on data that differ from its training data, and tuning on the
calibration data can correct for that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from torch.nn.functional import cross_entropy

from certiset.service.demo.base_models import train
from certiset.service.demo.problem import DemoProblem

WIDTHS = [64, 64, 10]
TRAINING, CALIBRATION = 397, 900
NOISE = 0.3
"""standard deviation, of pixels from 0 to 1"""


def digits(seed: int = 0) -> DemoProblem:
    random = np.random.default_rng(seed)
    bundled = load_digits()
    order = random.permutation(len(bundled.target))
    clean, labels = (bundled.data[order] / 16).astype(np.float32), bundled.target[order].astype(np.int64)
    weights = train(clean[:TRAINING], labels[:TRAINING], WIDTHS, cross_entropy, steps=200, seed=seed)
    seen = _shifted(clean) + random.normal(scale=NOISE, size=clean.shape).astype(np.float32)
    manifest = {
        "name": "digits",
        "task": "classification",
        "classes": 10,
        "input_shape": [64],
        "backbone": {"kind": "none"},
        "head": {"kind": "mlp", "widths": WIDTHS, "activation": "relu"},
    }
    calibration, test = slice(TRAINING, TRAINING + CALIBRATION), slice(TRAINING + CALIBRATION, None)
    image, label = seen[test][0].tolist(), labels[test][0]
    return DemoProblem(
        name="digits",
        title="digits, moved and noisy",
        manifest=manifest,
        weights=weights,
        x=seen[calibration],
        y=labels[calibration],
        test_x=seen[test],
        test_y=labels[test],
        shown=((f"{image[0]:.2f},{image[1]:.2f},…  (a {label})", image),),
        options={},
    )


def _shifted(images: NDArray[Any]) -> NDArray[Any]:
    """By one pixel to the right; what leaves the image is lost."""
    shifted = np.zeros_like(images).reshape(-1, 8, 8)
    shifted[:, :, 1:] = images.reshape(-1, 8, 8)[:, :, :-1]
    return shifted.reshape(images.shape)
