"""Models as their frameworks have them, one file per framework: parts of a `Model` once rows are seen."""

from pathlib import Path
from typing import Any

from torch import nn

from certiset.core.errors import ModelError
from certiset.core.models.sources.base import Parts, UnboundModel
from certiset.core.models.sources.estimator import EstimatorModel, is_estimator
from certiset.core.models.sources.function import FunctionModel
from certiset.core.models.sources.onnx_file import OnnxModel
from certiset.core.models.sources.torch_module import TorchModel

__all__ = ["EstimatorModel", "FunctionModel", "OnnxModel", "Parts", "TorchModel", "UnboundModel", "as_unbound"]


def as_unbound(given: Any) -> UnboundModel:
    """What was given as a model, by what it is."""
    if isinstance(given, UnboundModel):
        return given
    if isinstance(given, nn.Module):
        return TorchModel(given)
    if isinstance(given, str | Path) and str(given).endswith(".onnx"):
        return OnnxModel(given)
    if is_estimator(given):
        return EstimatorModel(given)
    if callable(given) and not isinstance(given, type):
        return FunctionModel(given)
    raise ModelError(
        f"The model is {_described(given)}. Give a fitted scikit-learn estimator, a torch module, the path of an "
        ".onnx file, a function from rows to outputs, or a certiset.Model.",
        field="model",
    )


def _described(given: Any) -> str:
    if isinstance(given, type):
        return f"the class {given.__name__}, not a model made of it"
    return "None" if given is None else type(given).__name__
