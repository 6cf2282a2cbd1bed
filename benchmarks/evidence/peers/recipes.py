"""How each library gets from a trained model and rows to sets: the code that is counted, run and timed.

A recipe finds ``model``, the rows ``X`` and ``y`` and, in its last line, ``X_new``. ``$alpha`` and ``$confidence``
stand for the level. Libraries that promise coverage on average are asked for the other promise by hand: `BY_HAND`
computes the level at which the exact law of the coverage (Vovk 2b) gives it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.learning_problem import ALPHA, DELTA
from benchmarks.evidence.peers.measured import MARGINAL, PAC

PROBLEMS = {
    "letters": "Letters by a forest of 100 trees: 26 classes, 16 features. Mean number of labels",
    "diamonds": "Diamonds by a network of two hidden layers: price in thousands of dollars, 9 features. Mean width",
}
BY_HAND = f"""from scipy.stats import beta
k = max(k for k in range(1, len(y)) if beta.sf({ALPHA:g}, k, len(y) + 1 - k) <= {DELTA:g})
alpha = (k + 0.5) / (len(y) + 1)
"""

Truths = NDArray[Any]
Judge = Callable[[Any, Truths], tuple[NDArray[Any], NDArray[Any]]]
"""of what a recipe returns, and the truths: the size of each set, and whether it has the truth"""


@dataclass(frozen=True)
class Recipe:
    imports: str
    calibrate: str
    sets: str
    """an expression of X_new"""
    judge: Judge
    promises: tuple[str, ...] = (MARGINAL, PAC)

    def code(self, promise: str) -> "Code":
        """The same with the level filled in."""
        by_hand = promise == PAC and MARGINAL in self.promises
        level = {"alpha": "alpha", "confidence": "1 - alpha", "exact": ", smoothing=False"}
        if not by_hand:
            level = {"alpha": f"{ALPHA:g}", "confidence": f"{1 - ALPHA:g}", "exact": ""}
        imports, calibrate, sets = (Template(text).substitute(level) for text in self._texts)
        return Code(imports, (BY_HAND if by_hand else "") + calibrate, sets)

    @property
    def _texts(self) -> tuple[str, str, str]:
        return self.imports, self.calibrate, self.sets


@dataclass(frozen=True)
class Code:
    imports: str
    calibrate: str
    sets: str

    @property
    def text(self) -> str:
        return f"{self.imports}{self.calibrate}sets = {self.sets}\n"

    @property
    def lines(self) -> int:
        return sum(bool(line.strip()) for line in self.text.splitlines())


def _mask(found: Any, y: Truths) -> tuple[NDArray[Any], NDArray[Any]]:
    """(rows, classes): 1 where the class is in the set."""
    mask = np.asarray(found).reshape(len(y), -1).astype(bool)
    return mask.sum(axis=1), mask[np.arange(len(y)), y]


def _label_lists(found: Any, y: Truths) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.array([len(one) for one in found]), np.array([truth in one for one, truth in zip(found, y, strict=True)])


def _ends(lower: Any, upper: Any, y: Truths) -> tuple[NDArray[Any], NDArray[Any]]:
    low, high = (np.asarray(end, dtype=np.float64).reshape(-1) for end in (lower, upper))
    return high - low, (low <= y) & (y <= high)


def _two_columns(found: Any, y: Truths) -> tuple[NDArray[Any], NDArray[Any]]:
    ends = np.asarray(found).reshape(len(y), 2)
    return _ends(ends[:, 0], ends[:, 1], y)


def _ours(found: Any, y: Truths) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.asarray(found.size), np.asarray(found.contains(y))


def _certiset(options: str = "") -> dict[str, Recipe]:
    fit = f"predictor = certiset.fit(model, X, y, alpha=$alpha{options})\n"
    recipe = Recipe("import certiset\n", fit, "predictor.predict_set(X_new)", _ours, promises=(PAC,))
    return dict.fromkeys(PROBLEMS, recipe)


_NETWORK = """    def predict(self, X):
        with torch.no_grad():
            return model(torch.as_tensor(X)).double().numpy()[:, 0]
"""
RECIPES: dict[str, dict[str, Recipe]] = {
    "certiset": _certiset(),
    "certiset, standard": _certiset(', method="standard"'),
    "certiset, standard, ties broken": {"letters": _certiset(', method="standard", ties="hash"')["letters"]},
    "MAPIE": {
        "letters": Recipe(
            "from mapie.classification import SplitConformalClassifier\n",
            "conformal = SplitConformalClassifier(model, confidence_level=$confidence, prefit=True)\n"
            "conformal.conformalize(X, y)\n",
            "conformal.predict_set(X_new)[1]",
            _mask,
        ),
        "diamonds": Recipe(
            "import torch\nfrom mapie.regression import SplitConformalRegressor\n"
            "from sklearn.base import BaseEstimator, RegressorMixin\n",
            "class Network(RegressorMixin, BaseEstimator):\n"
            "    def __sklearn_is_fitted__(self):\n        return True\n"
            "    def fit(self, X, y):\n        return self\n"
            f"{_NETWORK}"
            "conformal = SplitConformalRegressor(Network(), confidence_level=$confidence, prefit=True)\n"
            "conformal.conformalize(X, y)\n",
            "conformal.predict_interval(X_new)[1]",
            _two_columns,
        ),
    },
    "crepes": {
        "letters": Recipe(
            "from crepes import WrapClassifier\n",
            "conformal = WrapClassifier(model)\nconformal.calibrate(X, y)\n",
            "conformal.predict_set(X_new, confidence=$confidence$exact)",
            _label_lists,
        ),
        "diamonds": Recipe(
            "import torch\nfrom crepes import WrapRegressor\n",
            f"class Network:\n{_NETWORK}conformal = WrapRegressor(Network())\nconformal.calibrate(X, y)\n",
            "conformal.predict_int(X_new, confidence=$confidence)",
            _two_columns,
        ),
    },
    "puncc": {
        "letters": Recipe(
            "from deel.puncc.api.prediction import BasePredictor\nfrom deel.puncc.classification import LAC\n",
            "class Forest(BasePredictor):\n    def predict(self, X):\n        return self.model.predict_proba(X)\n"
            "conformal = LAC(Forest(model, is_trained=True), train=False)\n"
            "conformal.fit(X_calib=X, y_calib=y)\n",
            "conformal.predict(X_new, alpha=$alpha)[1]",
            _label_lists,
        ),
        "diamonds": Recipe(
            "import torch\nfrom deel.puncc.api.prediction import BasePredictor\n"
            "from deel.puncc.regression import SplitCP\n",
            f"class Network(BasePredictor):\n{_NETWORK}"
            "conformal = SplitCP(Network(model, is_trained=True), train=False)\n"
            "conformal.fit(X_calib=X, y_calib=y)\n",
            "conformal.predict(X_new, alpha=$alpha)[1:]",
            lambda found, y: _ends(found[0], found[1], y),
        ),
    },
    "TorchCP": {
        "letters": Recipe(
            "import torch\nfrom torchcp.classification.predictor import SplitPredictor\n"
            "from torchcp.classification.score import LAC\n",
            'conformal = SplitPredictor(LAC(score_type="identity"))\n'
            "probabilities = torch.as_tensor(model.predict_proba(X))\n"
            "conformal.calculate_threshold(probabilities, torch.as_tensor(y), $alpha)\n",
            "conformal.predict_with_logits(torch.as_tensor(model.predict_proba(X_new)))",
            _mask,
        ),
        "diamonds": Recipe(
            "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
            "from torchcp.regression.predictor import SplitPredictor\nfrom torchcp.regression.score import ABS\n",
            "rows = DataLoader(TensorDataset(torch.as_tensor(X), torch.as_tensor(y)), batch_size=1000)\n"
            "conformal = SplitPredictor(ABS(), model)\n"
            "conformal.calibrate(rows, $alpha)\n",
            "conformal.predict(torch.as_tensor(X_new))",
            _two_columns,
        ),
    },
}
"""by library and problem"""
