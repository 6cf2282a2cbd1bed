"""Tables, to see that nothing here is made for digits: networks, a forest, boosting, and where nothing can be tuned."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import Ridge
from torch.nn.functional import cross_entropy, mse_loss

from benchmarks.evidence.baselines import Baseline, both_settings, paper_settings, tuned_settings
from benchmarks.evidence.learning_problem import LearningProblem
from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.ours import learned, ours, standard
from benchmarks.evidence.sweep import Cell
from benchmarks.evidence.tables import Table, diamonds, letters, pen_digits, satellite
from certiset.core.models import Model
from certiset.service.demo.base_models import train

SIZES, SEEDS, SPLIT = (300, 500, 1000, 3000), tuple(range(8)), 0.5
QUICK_SIZES = (300, 1000)
RIVALS, RIVAL_SIZES, RIVAL_SEEDS = ("letters", "diamonds"), (1000, 3000), (0, 1, 2, 3, 4)
"""where the paper's learned baseline and its method were run"""
PAPER_STEPS, QUICK_STEPS = 300, 50
"""inner steps of the paper's optimizer; the paper takes 2000"""
TRAINING, TEST, FRESH = 2000, 10_000, 10_000
"""rows that train the base model, and at most so many that measure, and that certify sizes without truths"""
_SHIFT = 0.5
_LEAST = 1e-3
"""below which a probability that a forest gives says little"""
_PATIENTS, _JITTER, _NOISE = 400, 0.4, 20.0

Maker = Callable[[Path, int, int], LearningProblem]


def cells(quick: bool) -> list[Cell]:
    sizes, seeds = (QUICK_SIZES, (0,)) if quick else (SIZES, SEEDS)
    main: list[Cell] = [{"part": name, "n": n, "seed": seed} for name in PROBLEMS for n in sizes for seed in seeds]
    rival_sizes, rival_seeds = ((1000,), (0,)) if quick else (RIVAL_SIZES, RIVAL_SEEDS)
    return main + [
        {"part": name, "n": n, "split": SPLIT, "seed": seed, "steps": QUICK_STEPS if quick else PAPER_STEPS}
        for name in RIVALS
        for n in rival_sizes
        for seed in rival_seeds
    ]


def work(cell: Cell, kept: Path) -> list[Measured]:
    """A cell with a split holds the rivals that minimise size, all others ours and what it is compared with."""
    points, seed = PROBLEMS[cell["part"]].make(kept, cell["n"], cell["seed"]), cell["seed"]
    if "split" in cell:
        return _rivals(points, cell)
    found = [*standard(points, seed), ours(points, seed), learned(points, seed, SPLIT)]
    if points.regression:
        found.append(learned(points, seed, SPLIT, "learned_proper_both", tune="both"))
    return found


def _rivals(points: LearningProblem, cell: Cell) -> list[Measured]:
    split, seed = cell["split"], cell["seed"]
    by_paper = Baseline(points, split, seed, paper_settings(points.regression, steps=cell["steps"]))
    tuned = Baseline(points, split, seed, tuned_settings())
    found = [*by_paper.learned("2b"), *by_paper.pac_bayes(), *tuned.learned("2b"), *tuned.pac_bayes()]
    if points.regression:
        found += Baseline(points, split, seed, both_settings()).learned("2b")
    return found


@dataclass(frozen=True)
class Rows:
    """One table, put in random order: for the base model, to calibrate on, to measure on, and without truths."""

    train_x: NDArray[Any]
    train_y: NDArray[Any]
    x: NDArray[Any]
    y: NDArray[Any]
    test_x: NDArray[Any]
    test_y: NDArray[Any]
    fresh: NDArray[Any] | None

    def with_inputs(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> "Rows":
        """All but those of the base model."""
        fresh = None if self.fresh is None else change(self.fresh)
        return replace(self, x=change(self.x), test_x=change(self.test_x), fresh=fresh)

    def problem(self, name: str, model: Model) -> LearningProblem:
        return LearningProblem(f"{name} N = {len(self.x)}", model, self.x, self.y, self.test_x, self.test_y, self.fresh)


def rows_of(table: Table, n: int, seed: int, *, classes: bool, training: int = TRAINING) -> Rows:
    features, targets = table
    order = np.random.default_rng(seed).permutation(len(features))
    first, second = order[:training], order[training : training + n]
    rest, fresh = np.split(order[training + n :], [TEST])
    y = targets.astype(np.int64) if classes else targets
    enough = features[fresh[:FRESH]] if len(fresh) >= FRESH else None
    return Rows(features[first], y[first], features[second], y[second], features[rest], y[rest], enough)


def _network(table: Callable[[Path], Table], name: str, *, classes: int = 0, shift: float = 0.0) -> Maker:
    """Two hidden layers of 64; with a shift every feature is stretched and moved after the base model was trained."""

    def make(kept: Path, n: int, seed: int) -> LearningProblem:
        rows = rows_of(table(kept), n, seed, classes=bool(classes))
        centre, spread = rows.train_x.mean(axis=0), rows.train_x.std(axis=0)
        rows = replace(rows, train_x=(rows.train_x - centre) / spread).with_inputs(lambda x: (x - centre) / spread)
        widths = [rows.x.shape[1], 64, 64, classes or 1]
        shown, loss = (rows.train_y, cross_entropy) if classes else (rows.train_y[:, None], mse_loss)
        weights = train(rows.train_x, shown, widths, loss, steps=400, seed=seed)
        if shift:
            random = np.random.default_rng([seed, 1])
            stretch, move = (shift * random.normal(size=rows.x.shape[1]) for _ in range(2))
            rows = rows.with_inputs(lambda x: (x * (1 + stretch) + move).astype(np.float32))
        head = {"kind": "mlp", "widths": widths, "activation": "relu"}
        return rows.problem(name, _model(name, rows.x.shape[1], classes, head, weights))

    return make


def _model(name: str, inputs: int, classes: int, head: dict[str, Any], weights: Any = None) -> Model:
    manifest: dict[str, Any] = {"name": name, "input_shape": [inputs], "head": head}
    manifest |= {"task": "classification", "classes": classes} if classes else {"task": "regression"}
    return Model.from_manifest(manifest, weights)


def _as_it_comes(table: Callable[[Path], Table], name: str, classifier: Callable[[int], Any]) -> Maker:
    """A model of scikit-learn, whose log-probabilities are the inputs of a head that passes them on."""

    def make(kept: Path, n: int, seed: int) -> LearningProblem:
        rows = rows_of(table(kept), n, seed, classes=True)
        model = classifier(seed).fit(rows.train_x, rows.train_y)

        def logits(x: NDArray[Any]) -> NDArray[Any]:
            return np.log(np.maximum(model.predict_proba(x), _LEAST)).astype(np.float32)

        classes = len(model.classes_)
        return rows.with_inputs(logits).problem(name, _model(name, classes, classes, {"kind": "identity"}))

    return make


def best_logits(kept: Path, n: int, seed: int) -> LearningProblem:
    """Labels are drawn by the very probabilities that the model states: nothing can be learned."""
    random = np.random.default_rng([seed, n])
    logits = 2 * random.normal(size=(n + TEST + FRESH, 10))
    labels = (logits + random.gumbel(size=logits.shape)).argmax(axis=1)
    (x, test_x, fresh), (y, test_y, _) = (np.split(part, [n, n + TEST]) for part in (logits.astype(np.float32), labels))
    model = _model("best logits", 10, 10, {"kind": "identity"})
    return LearningProblem(f"best logits N = {n}", model, x, y, test_x, test_y, fresh)


def patients(kept: Path, n: int, seed: int) -> LearningProblem:
    """Many patients like the 442 of the diabetes data, a linear model of few of them: there is little to learn."""
    data, random = load_diabetes(), np.random.default_rng([seed, n])
    who = random.integers(0, len(data.target), _PATIENTS + n + TEST)
    x = data.data[who] / data.data.std(axis=0) + _JITTER * random.normal(size=(len(who), data.data.shape[1]))
    y = data.target[who] + _NOISE * random.normal(size=len(who))
    (first, x_, test), (known, y_, truths) = (
        np.split(part.astype(np.float32), [_PATIENTS, _PATIENTS + n]) for part in (x, y)
    )
    linear = Ridge(1.0).fit(first, known)
    weights = {
        "head.0.weight": linear.coef_[None].astype(np.float32),
        "head.0.bias": np.array([linear.intercept_], dtype=np.float32),
    }
    head = {"kind": "mlp", "widths": [x.shape[1], 1], "activation": "relu"}
    model = _model("patients", x.shape[1], 0, head, weights)
    return LearningProblem(f"patients N = {n}", model, x_, y_, test, truths)


@dataclass(frozen=True)
class TabularProblem:
    title: str
    make: Maker
    """of the folder with the wheels, N and a seed"""


PROBLEMS = {
    "letters": TabularProblem(
        "Letters: 26 classes, 16 features, a network. Mean number of labels", _network(letters, "letters", classes=26)
    ),
    "diamonds": TabularProblem(
        "Diamonds: price in thousands of dollars, 9 features, a network. Mean width", _network(diamonds, "diamonds")
    ),
    "letters_forest": TabularProblem(
        "Letters by a forest of 100 trees, as it comes. Mean number of labels",
        _as_it_comes(letters, "letters forest", lambda seed: RandomForestClassifier(100, random_state=seed)),
    ),
    "ground_boosting": TabularProblem(
        "Ground seen by a satellite, 6 classes, 36 features, by gradient boosting as it comes. Mean number of labels",
        _as_it_comes(satellite, "ground", lambda seed: HistGradientBoostingClassifier(max_iter=50, random_state=seed)),
    ),
    "digits_shifted": TabularProblem(
        "Digits written with a pen, 10 classes, 16 features, all inputs strongly shifted. Mean number of labels",
        _network(pen_digits, "pen digits", classes=10, shift=_SHIFT),
    ),
    "best_logits": TabularProblem("Logits that are the best possible, 10 classes. Mean number of labels", best_logits),
    "patients": TabularProblem("Patients like those of the diabetes data, a linear model. Mean width", patients),
}
