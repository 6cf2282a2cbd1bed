"""Models as people export them: scikit-learn by skl2onnx, PyTorch by its exporter."""

import io
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR
from torch import Tensor, nn

COLUMNS = 4
CLASSES = 3


@cache
def data() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Inputs, classes and numbers; the last column has four values."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal((120, COLUMNS)).astype(np.float32)
    x[:, -1] = generator.integers(4, size=120)
    return x, generator.integers(CLASSES, size=120), x @ np.arange(COLUMNS) + generator.standard_normal(120)


def of_sklearn(model: Any) -> bytes:
    from skl2onnx import to_onnx  # noqa: PLC0415

    x, classes, numbers = data()
    options = {"zipmap": False} if is_classifier(model) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, classes if is_classifier(model) else numbers)
        found = to_onnx(model, x[:1], options=options, target_opset={"": 17, "ai.onnx.ml": 3})
    content: bytes = found.SerializeToString()
    return content


def of_torch(module: nn.Module, *row_shape: int) -> bytes:
    """With PyTorch's exporter of traced modules."""
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            (torch.zeros(2, *row_shape),),
            stream,  # type: ignore[arg-type]
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": {0: "rows"}, "y": {0: "rows"}},
            opset_version=17,
            dynamo=False,
        )
    return stream.getvalue()


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(COLUMNS, 8), nn.ReLU(), nn.Dropout(), nn.LayerNorm(8), nn.Linear(8, 3))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, stride=2, padding=1),
        nn.GroupNorm(2, 4),
        nn.GELU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 3),
    )


class Transformer(nn.Module):
    """Attention over the steps of a row, not over rows."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.token = nn.Parameter(torch.zeros(1, 1, 8))
        self.last = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.token.expand(x.shape[0], -1, -1)
        found: Tensor = self.last(self.encoder(torch.cat([tokens, x], 1))[:, 0])
        return found


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.network = nn.LSTM(8, 6, batch_first=True)
        self.last = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.last(self.network(x)[0][:, -1])
        return found


def pipeline() -> Any:
    numeric = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("n", numeric, [0, 1, 2]), ("c", OneHotEncoder(handle_unknown="ignore"), [3])])
    return make_pipeline(columns, LogisticRegression())


Made = Callable[[], bytes]
EXPORTS: dict[str, tuple[Made, tuple[int, ...]]] = {
    "forest": (lambda: of_sklearn(RandomForestClassifier(5, random_state=0)), (COLUMNS,)),
    "forest of numbers": (lambda: of_sklearn(RandomForestRegressor(5, random_state=0)), (COLUMNS,)),
    "extra trees": (lambda: of_sklearn(ExtraTreesRegressor(5, random_state=0)), (COLUMNS,)),
    "boosting": (lambda: of_sklearn(GradientBoostingClassifier(n_estimators=5, random_state=0)), (COLUMNS,)),
    "boosting of numbers": (lambda: of_sklearn(GradientBoostingRegressor(n_estimators=5, random_state=0)), (COLUMNS,)),
    "logistic": (lambda: of_sklearn(LogisticRegression()), (COLUMNS,)),
    "linear": (lambda: of_sklearn(LinearRegression()), (COLUMNS,)),
    "support vectors": (lambda: of_sklearn(SVC()), (COLUMNS,)),
    "support vectors of numbers": (lambda: of_sklearn(SVR()), (COLUMNS,)),
    "pipeline": (lambda: of_sklearn(pipeline()), (COLUMNS,)),
    "polynomials": (lambda: of_sklearn(make_pipeline(PolynomialFeatures(2), LinearRegression())), (COLUMNS,)),
    "network of scikit-learn": (lambda: of_sklearn(MLPClassifier((8,), max_iter=20, random_state=0)), (COLUMNS,)),
    "neighbours": (lambda: of_sklearn(KNeighborsRegressor(3)), (COLUMNS,)),
    "mlp": (lambda: of_torch(mlp(), COLUMNS), (COLUMNS,)),
    "cnn": (lambda: of_torch(cnn(), 1, 8, 8), (1, 8, 8)),
    "transformer": (lambda: of_torch(Transformer(), 5, 8), (5, 8)),
    "recurrent": (lambda: of_torch(Recurrent(), 5, 8), (5, 8)),
}
