"""A predictor whose model lives in memory, made one that can be saved: the model becomes an ONNX graph.

A conversion is another program, which rounds in another way. So it is held against the original on every row that was
given, and then calibrated itself, on the same rows and with the same options: the saved predictor has a certificate of
its own, and nothing in it rests on the conversion being exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.data_frames import frame_names
from certiset.core.errors import ModelError, first_line
from certiset.core.fit.scorer import Scorer
from certiset.core.models import Model
from certiset.core.models.sources import EstimatorModel, OnnxModel, as_unbound

_SHARE = 1e-4
"""by which a probability may differ, or a prediction, relative to how much predictions vary"""
_CPU = torch.device("cpu")
_INSTEAD = (
    "Export it to an ONNX file, calibrate that, and save the predictor: "
    'certiset.fit("model.onnx", x, y, ...).save(folder).'
)


@dataclass
class Conversion:
    """What a fit was given, for as long as its predictor lives in this process."""

    model: object
    x: Any
    y: Any
    options: dict[str, Any]
    fit: Callable[..., Any]
    """gives a predictor, of which nothing is known here"""

    def __getstate__(self) -> dict[str, Any]:
        """Copies for other processes go without: calibration rows are nobody else's business."""
        return {}

    def __call__(self, original: Model) -> Any:
        unbound = as_unbound(self.model)
        if not isinstance(unbound, EstimatorModel):
            raise ModelError(
                f"The predictor cannot be saved, since its model ({original.manifest.name}) is a program in this "
                f"process. {_INSTEAD}",
                field="model",
            )
        columns = original.manifest.columns
        rows = _numbers(self.x, columns, original)
        manifest = original.manifest
        graph = OnnxModel(
            _graph_of(unbound.estimator, rows, columns, manifest.name),
            task=manifest.task,
            labels=manifest.labels,
            outputs=manifest.outputs if manifest.task == "classification" else None,
            columns=columns,
        )
        found = self.fit(graph, self.x, self.y, **self.options)
        _compare(original, found.scorer.model, self.x, rows)
        return found


class _Kept(Protocol):
    """What is asked of a predictor."""

    @property
    def scorer(self) -> Scorer: ...


P = TypeVar("P", bound=_Kept)


def converted(predictor: P, conversion: Conversion | None) -> P:
    """The predictor itself, if its model can be stored; otherwise the one that the conversion makes."""
    model = predictor.scorer.model
    if not model.is_in_process:
        return predictor
    if conversion is None or not vars(conversion):
        raise ModelError(
            f"The predictor cannot be saved: its model ({model.manifest.name}) lives in memory, and this copy of it "
            "has no calibration rows to calibrate a conversion on. Save the predictor that fit returned.",
            field="model",
        )
    made: P = conversion(model)
    return made


def _numbers(x: Any, columns: tuple[str, ...] | None, original: Model) -> NDArray[np.float32]:
    """The rows as the graph will see them."""
    try:
        named = frame_names(x) is not None and columns is not None
        found = np.column_stack([np.asarray(x[name]) for name in columns or ()]) if named else np.asarray(x)
        rows = found.astype(np.float32)
    except (TypeError, ValueError):
        rows = np.full((1, 1), np.nan, dtype=np.float32)
    if not np.isfinite(rows).all():
        raise ModelError(
            f"The predictor cannot be saved: {original.manifest.name} takes text or missing values, and a saved "
            "predictor takes numbers alone. Turn text into numbers and fill in what is missing before the model, and "
            "calibrate the rest of the pipeline.",
            field="model",
        )
    return rows


def _graph_of(estimator: Any, rows: NDArray[np.float32], columns: tuple[str, ...] | None, name: str) -> bytes:
    try:
        from skl2onnx import to_onnx  # noqa: PLC0415 (an extra)
        from skl2onnx.common.data_types import FloatTensorType  # noqa: PLC0415
    except ImportError:
        raise ModelError(
            f"To save a predictor of {name} it is converted to ONNX, which needs the package skl2onnx: "
            "pip install 'certiset[sklearn]'.",
            field="model",
        ) from None
    by_name = columns is not None and hasattr(estimator, "feature_names_in_") and hasattr(estimator, "steps")
    types = [(column, FloatTensorType([None, 1])) for column in columns or ()]
    inputs: dict[str, Any] = {"initial_types": types} if by_name else {"X": rows[:1]}
    options = {"zipmap": False} if hasattr(estimator, "classes_") else {}
    if options and not hasattr(estimator, "predict_proba"):
        options["raw_scores"] = True
    try:
        model = to_onnx(estimator, **inputs, options={id(estimator): options} if options else None)
        content: bytes = model.SerializeToString()
    except Exception as error:  # converters raise all kinds
        raise ModelError(
            f"The predictor cannot be saved: {name} cannot be converted to ONNX ({first_line(error)[:200]}). "
            f"{_INSTEAD}",
            field="model",
        ) from error
    return content


def _compare(original: Model, converted: Model, x: Any, rows: NDArray[np.float32]) -> None:
    """Row by row: what the conversion says, and what the model itself said."""
    given = original.reader.read(x) if original.reader is not None else np.asarray(x)
    own = original.features(given, _CPU, torch.float64).numpy()
    other = converted.features(rows, _CPU, torch.float64).numpy()
    if original.manifest.task == "classification":
        own, other = _shares(own), _shares(other)
    allowed = _SHARE * (1.0 if original.manifest.task == "classification" else max(float(own.std()), 1e-30))
    if own.shape != other.shape:
        raise ModelError(
            f"The predictor cannot be saved: converted to ONNX, {original.manifest.name} has {other.shape[1]} outputs "
            f"instead of {own.shape[1]}. {_INSTEAD}",
            field="model",
        )
    away = np.abs(own - other).max(axis=1)
    row = int(np.argmax(away))
    if away[row] > allowed:
        raise ModelError(
            f"The predictor cannot be saved: converted to ONNX, {original.manifest.name} says something else, by "
            f"{away[row]:.2g} in row {row + 1}, where rounding may make {allowed:.2g}. {_INSTEAD}",
            field="model",
        )


def _shares(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
