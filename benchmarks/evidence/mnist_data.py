"""Corrupted MNIST as in the paper's appendix, made once with a seed and kept.

A LeNet-5 is trained on clean images; kept are its head, and the features that its frozen part gives for rotated and
noisy ones.
"""

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.evidence.learning_problem import LearningProblem, head_weights
from certiset.core.models import Model
from certiset.core.models.backbones.lenet5 import lenet5
from certiset.service.demo.mnist import read_mnist

TRAINING_IMAGES = 7000
UNLABELLED_IMAGES = 10_000
"""other training images, corrupted alike, on which sizes are certified without labels"""
ROTATION, NOISE = 30.0, 1.3
"""degrees either way; standard deviation, after normalisation"""
MEAN, DEVIATION = 0.1307, 0.3081
WIDTHS = (400, 120, 84, 10)
EPOCHS = 8
"""The paper does not say how long its base predictor was trained; with these, accuracy and confidence on corrupted
images come near those of the authors' own (0.70 right, a mean entropy of 1.06 nats)."""
LONGER = 20
"""epochs, for a better base model on clean images"""
_BATCH, _RATE = 128, 1e-3

Arrays = dict[str, NDArray[Any]]


def corrupted_mnist(images: Path, kept: Path, epochs: int = EPOCHS, seed: int = 0) -> Path:
    """The file with features, labels and the head; made from the folder of MNIST's files if it is missing."""
    file = kept_file(kept, epochs, seed)
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part.npz")
        np.savez(part, allow_pickle=False, **make(images, epochs, seed))
        part.replace(file)
    return file


def kept_file(kept: Path, epochs: int, seed: int = 0) -> Path:
    return kept / f"corrupted-mnist-{epochs}-epochs-{seed}.npz"


def make(folder: Path, epochs: int, seed: int) -> Arrays:
    train_x, train_y = read_mnist(folder, "train")
    test_x, test_y = read_mnist(folder, "test")
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(train_x), generator=generator).numpy()
    chosen, others = order[:TRAINING_IMAGES], order[TRAINING_IMAGES : TRAINING_IMAGES + UNLABELLED_IMAGES]
    backbone, head = train_lenet(_normalised(train_x[chosen]), torch.from_numpy(train_y[chosen]), epochs, seed)
    shown = corrupt(_normalised(test_x), generator)
    unlabelled = corrupt(_normalised(train_x[others]), generator)
    with torch.no_grad():
        features, fresh, clean = (
            torch.cat([backbone(part) for part in torch.split(images, 1000)])
            for images in (shown, unlabelled, _normalised(test_x))
        )
        answers = [head(clean), head(features)]
        right = [float((answer.argmax(1) == torch.from_numpy(test_y)).double().mean()) for answer in answers]
        logs = answers[1].log_softmax(dim=1)
        entropy = float(-(logs.exp() * logs).sum(dim=1).mean())
    weights = {f"head.{place}.{name}": value for place, layer in enumerate(head[::2]) for name, value in _named(layer)}
    base = {"clean_accuracy": right[0], "corrupted_accuracy": right[1], "corrupted_entropy": entropy}
    kept = {"features": features.numpy(), "y": test_y, "unlabelled": fresh.numpy()}
    return kept | weights | {name: np.array(value) for name, value in base.items()}


def base_figures(file: Path) -> dict[str, float]:
    """How good the base model is."""
    with np.load(file, allow_pickle=False) as data:
        return {name: float(data[name]) for name in ("clean_accuracy", "corrupted_accuracy", "corrupted_entropy")}


def corrupt(images: Tensor, generator: torch.Generator) -> Tensor:
    """Rotated by a uniform angle within ROTATION, then noisy."""
    if not len(images):
        return images
    angle = (2 * torch.rand(len(images), generator=generator) - 1) * math.radians(ROTATION)
    turn = torch.zeros(len(images), 2, 3)
    turn[:, 0, 0], turn[:, 0, 1] = angle.cos(), -angle.sin()
    turn[:, 1, 0], turn[:, 1, 1] = angle.sin(), angle.cos()
    black = (0 - MEAN) / DEVIATION
    grid = functional.affine_grid(turn, list(images.shape), align_corners=False)
    turned = functional.grid_sample(images - black, grid, align_corners=False) + black
    return turned + NOISE * torch.randn(images.shape, generator=generator)


def train_lenet(x: Tensor, y: Tensor, epochs: int, seed: int) -> tuple[nn.Module, nn.Sequential]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        backbone = lenet5()
        layers = [nn.Linear(i, o) for i, o in itertools.pairwise(WIDTHS)]
        head = nn.Sequential(layers[0], nn.Sigmoid(), layers[1], nn.Sigmoid(), layers[2])
        optimizer = torch.optim.Adam([*backbone.parameters(), *head.parameters()], lr=_RATE)
        for _ in range(epochs):
            for rows in torch.split(torch.randperm(len(x)), _BATCH):
                optimizer.zero_grad()
                functional.cross_entropy(head(backbone(x[rows])), y[rows]).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    return backbone.eval(), head.eval()


def problem(file: Path, rows: int, seed: int) -> LearningProblem:
    """``rows`` random points to calibrate on; the last half of that order is for measuring, whatever ``rows`` is."""
    with np.load(file, allow_pickle=False) as data:
        x, y, fresh, model = data["features"], data["y"], data["unlabelled"], head_model(data)
    order = np.random.default_rng(seed).permutation(len(y))
    half = len(y) // 2
    if rows > half:
        raise ValueError(f"at most {half} of the {len(y)} points may calibrate.")
    fitted, tested = order[:rows], order[half:]
    return LearningProblem(f"MNIST N = {rows}", model, x[fitted], y[fitted], x[tested], y[tested], fresh)


def head_model(data: Mapping[str, NDArray[Any]]) -> Model:
    """The head of a stored base model, whose inputs are the features that its frozen part gave."""
    return Model.from_manifest(
        {
            "name": "corrupted mnist head",
            "task": "classification",
            "classes": WIDTHS[-1],
            "input_shape": [WIDTHS[0]],
            "head": {"kind": "mlp", "widths": list(WIDTHS), "activation": "sigmoid"},
        },
        head_weights(data),
    )


def _normalised(images: NDArray[np.float32]) -> Tensor:
    return (torch.from_numpy(images) - MEAN) / DEVIATION


def _named(layer: nn.Module) -> list[tuple[str, NDArray[Any]]]:
    return [(name, value.detach().numpy()) for name, value in layer.named_parameters()]
