"""Problems small enough for thousands of fits, whose true coverage and sizes are known without test points.

What is asked of a predictor are its sets for some thousand inputs that stand for all (quantiles of the law of an input
of one dimension, or the nodes of a quadrature); what lies in each set is then computed from the law of y given x.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from certiset.core.fit.predictor import Predictor
from certiset.core.models import Model

Array = NDArray[np.float64]
Data = tuple[NDArray[Any], NDArray[Any]]
TOLERANCE = 5e-4
"""what a true coverage computed here may be off by, and what a promise must be exceeded by to count as broken"""
_INPUTS = 4096
_NODES = 512
"""where the chance to lie inside is smooth in the input"""
_CENTRES = {3: np.array([-2.0, 0.0, 2.0]), 4: np.array([-3.0, -1.0, 1.0, 3.0])}
_WAVES = 6
_WRONG = np.array([5.0, 0.0, -5.0, 0.0])
"""added to the right logits"""


@dataclass(frozen=True)
class TinyProblem:
    model: Model
    draw: Callable[[int, np.random.Generator], Data]
    inputs: NDArray[Any]
    weights: Array
    """of the inputs, with sum 1"""
    inside: Callable[[Any], Array]
    """of the inputs' sets: the probability of each to contain y"""

    def missed(self, predictor: Predictor, member: int) -> float:
        """The true miscoverage of a member, as it is served."""
        return 1 - float(self.weights @ self.inside(predictor.predict_set(self.inputs, member=member)))

    def sizes(self, predictor: Predictor, member: int) -> Array:
        """The sizes of the inputs' sets."""
        return np.asarray(predictor.predict_set(self.inputs, member=member).size, dtype=np.float64)


@cache
def sensor() -> TinyProblem:
    """A gain and an offset that the model does not know: y = 0.8 x + 1.5 + noise, and the model says x."""

    def draw(rows: int, rng: np.random.Generator) -> Data:
        x = rng.normal(size=(rows, 1))
        return x, 0.8 * x[:, 0] + 1.5 + rng.normal(size=rows)

    nodes, weights = np.polynomial.hermite_e.hermegauss(32)

    def inside(sets: Any) -> Array:
        mean = 0.8 * nodes + 1.5
        return np.asarray(norm.cdf(sets.upper - mean) - norm.cdf(sets.lower - mean))

    return TinyProblem(_regression("sensor"), draw, nodes[:, None], weights / weights.sum(), inside)


@cache
def growing_noise() -> TinyProblem:
    """y = x + noise that grows with x: a scale is to be learned."""

    def deviation(x: Array) -> Array:
        return 0.1 + 0.3 * (x + 1) ** 2

    def draw(rows: int, rng: np.random.Generator) -> Data:
        x = rng.uniform(-1, 1, (rows, 1))
        return x, x[:, 0] + deviation(x[:, 0]) * rng.normal(size=rows)

    x = (np.arange(_NODES) + 0.5) / _NODES * 2 - 1

    def inside(sets: Any) -> Array:
        return np.asarray(norm.cdf((sets.upper - x) / deviation(x)) - norm.cdf((sets.lower - x) / deviation(x)))

    return TinyProblem(_regression("noise"), draw, x[:, None], np.full(_NODES, 1 / _NODES), inside)


@cache
def classes() -> TinyProblem:
    """Three overlapping classes on a line, and a network of 16 units whose whole head is tuned."""
    rng = np.random.default_rng(0)
    weights = {
        "head.0.weight": rng.normal(size=(16, 1)),
        "head.0.bias": rng.normal(size=16),
        "head.1.weight": rng.normal(size=(3, 16)) / 4,
        "head.1.bias": np.zeros(3),
    }
    head = {"kind": "mlp", "widths": [1, 16, 3], "activation": "tanh"}
    manifest = {"name": "classes", "task": "classification", "classes": 3, "input_shape": [1], "head": head}
    return _labels(Model.from_manifest(manifest, weights), 3, lambda z: z[:, None])


@cache
def logits() -> TinyProblem:
    """Logits that were computed elsewhere, with a wrong shift for two of four classes."""
    manifest = {"name": "logits", "task": "classification", "classes": 4, "input_shape": [4]}
    return _labels(Model.from_manifest({**manifest, "head": {"kind": "identity"}}), 4, lambda z: _logits(z, 4) + _WRONG)


@cache
def optimal_logits() -> TinyProblem:
    """Logits that are already right: nothing can be gained by tuning them."""
    manifest = {"name": "optimal", "task": "classification", "classes": 4, "input_shape": [4]}
    return _labels(Model.from_manifest({**manifest, "head": {"kind": "identity"}}), 4, lambda z: _logits(z, 4))


@cache
def pure_noise() -> TinyProblem:
    """Labels that have nothing to do with the inputs, and features enough to learn some of them by heart."""
    return _waves("noise", strength=0.0)


@cache
def waves() -> TinyProblem:
    """Labels that change with the input in waves, and a head that knows nothing of them: the more rows, the better."""
    return _waves("waves", strength=3.0)


PROBLEMS = {
    "sensor": sensor,
    "growing noise": growing_noise,
    "classes": classes,
    "logits": logits,
    "optimal logits": optimal_logits,
    "pure noise": pure_noise,
    "waves": waves,
}


def _regression(name: str) -> Model:
    return Model.from_manifest({"name": name, "task": "regression", "input_shape": [1], "head": {"kind": "identity"}})


def _logits(z: Array, count: int) -> Array:
    """Of unit Gaussians around the centres, given z."""
    return np.asarray(z[:, None] * _CENTRES[count] - _CENTRES[count] ** 2 / 2)


def _waves(name: str, strength: float) -> TinyProblem:
    """Inputs on a circle, which the model sees as waves; logits of the labels are ``strength`` times some of these."""
    numbers, random = np.arange(1, _WAVES + 1), np.random.default_rng(0)
    start, truth = random.normal(size=(2, 4, 2 * _WAVES))

    def see(z: Array) -> Array:
        return np.concatenate([np.cos(z[:, None] * numbers), np.sin(z[:, None] * numbers)], axis=1)

    def chances(seen: Array) -> Array:
        logits = strength * seen @ truth.T
        return np.asarray(np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)))

    def draw(rows: int, rng: np.random.Generator) -> Data:
        x = see(rng.uniform(0, 2 * np.pi, size=rows))
        return x, (rng.random((rows, 1)) > chances(x).cumsum(axis=1)[:, :-1]).sum(axis=1)

    inputs = see((np.arange(_INPUTS) + 0.5) / _INPUTS * 2 * np.pi)
    law = chances(inputs)

    def inside(sets: Any) -> Array:
        return np.asarray((law * sets.mask).sum(axis=1))

    head = {"kind": "mlp", "widths": [2 * _WAVES, 4], "activation": "relu"}
    manifest = {"name": name, "task": "classification", "classes": 4, "input_shape": [2 * _WAVES], "head": head}
    model = Model.from_manifest(manifest, {"head.0.weight": start / 4, "head.0.bias": np.zeros(4)})
    return TinyProblem(model, draw, inputs, np.full(_INPUTS, 1 / _INPUTS), inside)


def _labels(model: Model, count: int, see: Callable[[Array], Array]) -> TinyProblem:
    """Classes are Gaussians on a line; the model sees a function of z."""
    centres = _CENTRES[count]

    def draw(rows: int, rng: np.random.Generator) -> Data:
        y = rng.integers(count, size=rows)
        return see(centres[y] + rng.normal(size=rows)), y

    line = np.linspace(centres[0] - 6, centres[-1] + 6, 100_001)
    law = norm.cdf(line[:, None] - centres).mean(axis=1)
    z = np.interp((np.arange(_INPUTS) + 0.5) / _INPUTS, law, line)
    chances = np.exp(_logits(z, count) - np.logaddexp.reduce(_logits(z, count), axis=1, keepdims=True))

    def inside(sets: Any) -> Array:
        return np.asarray((chances * sets.mask).sum(axis=1))

    return TinyProblem(model, draw, see(z), np.full(_INPUTS, 1 / _INPUTS), inside)
