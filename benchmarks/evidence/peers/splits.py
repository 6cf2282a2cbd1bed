"""The two problems as a user of any library has them: a trained model, rows to calibrate on and rows to measure on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from torch import nn
from torch.nn.functional import mse_loss

from benchmarks.evidence.tables import Table, diamonds, letters
from benchmarks.evidence.tabular import rows_of
from certiset.service.demo.base_models import train

N = 1000
_STEPS, _WIDTH = 400, 64


@dataclass(frozen=True)
class Split:
    model: Any
    outputs: Callable[[NDArray[Any]], Any]
    """what every library asks of the model, alone"""
    x: NDArray[Any]
    y: NDArray[Any]
    test_x: NDArray[Any]
    test_y: NDArray[Any]


@cache
def _table(read: Callable[[Path], Table], kept: Path) -> Table:
    return read(kept)


def split_of(problem: str, kept: Path, seed: int) -> Split:
    return _letters(kept, seed) if problem == "letters" else _diamonds(kept, seed)


def _letters(kept: Path, seed: int) -> Split:
    rows = rows_of(_table(letters, kept), N, seed, classes=True)
    forest = RandomForestClassifier(100, random_state=seed).fit(rows.train_x, rows.train_y)
    return Split(forest, forest.predict_proba, rows.x, rows.y, rows.test_x, rows.test_y)


def _diamonds(kept: Path, seed: int) -> Split:
    rows = rows_of(_table(diamonds, kept), N, seed, classes=False)
    centre, spread = rows.train_x.mean(axis=0), rows.train_x.std(axis=0)
    inputs = [((x - centre) / spread).astype(np.float32) for x in (rows.train_x, rows.x, rows.test_x)]
    widths = [inputs[0].shape[1], _WIDTH, _WIDTH, 1]
    weights = train(inputs[0], rows.train_y[:, None], widths, mse_loss, steps=_STEPS, seed=seed)
    layers = [nn.Linear(*widths[place : place + 2]) for place in range(len(widths) - 1)]
    for place, layer in enumerate(layers):
        layer.load_state_dict({name: torch.as_tensor(weights[f"head.{place}.{name}"]) for name in ("weight", "bias")})
    network = nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())][:-1]).eval()

    def outputs(x: NDArray[Any]) -> Any:
        with torch.no_grad():
            return network(torch.as_tensor(x)).numpy()

    return Split(network, outputs, inputs[1], rows.y, inputs[2], rows.test_y)
