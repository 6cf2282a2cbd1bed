"""Predictors as models of MLflow: logged, registered, loaded and run by its own commands, with no pickle anywhere.

    import certiset.mlflow

    with mlflow.start_run():
        certiset.mlflow.log_model(predictor, name="triage", input_example=X[:2])
    certiset.mlflow.load_model("models:/triage/1").predict_set(X)

What is stored is the folder that ``predictor.save`` writes and a file of code (MLflow calls it models from code). The
metadata say which certificate it is. MLflow is imported when a function is called.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certiset.extras import explaining

if TYPE_CHECKING:
    from certiset.core.fit import Predictor

__all__ = ["load_model", "log_model", "save_model"]

_FOLDER = "predictor"
"""what the model's code calls the folder"""
_CODE = Path(__file__).with_name("mlflow_code.py")


def save_model(predictor: "Predictor", path: str | Path, *, input_example: Any = None, **options: Any) -> None:
    """Writes a model of MLflow to a folder that is new; ``options`` are those of ``mlflow.pyfunc.save_model``."""
    pyfunc = _mlflow("mlflow.pyfunc")
    with _described(predictor, input_example) as described:
        pyfunc.save_model(path=str(path), **{**described, **options})


def log_model(predictor: "Predictor", name: str, *, input_example: Any = None, **options: Any) -> Any:
    """Logs it in the active run, and returns MLflow's own account of it; ``options`` as of ``mlflow.pyfunc.log_model``.

    ``registered_model_name`` registers it.
    """
    pyfunc = _mlflow("mlflow.pyfunc")
    with _described(predictor, input_example) as described:
        return pyfunc.log_model(name=name, **{**described, **options})


def load_model(model_uri: str, device: str = "cpu") -> "Predictor":
    """The predictor of a model that was saved or logged, checked as `certiset.load` does."""
    from certiset.core.errors import DataError  # noqa: PLC0415
    from certiset.core.fit import load  # noqa: PLC0415 (loads PyTorch)

    artifacts = _mlflow("mlflow.artifacts")
    folder = Path(artifacts.download_artifacts(artifact_uri=str(model_uri))) / "artifacts" / _FOLDER
    if not folder.is_dir():
        raise DataError(f"{model_uri} is a model of MLflow, but none that certiset.mlflow has saved.")
    return load(folder, device)


@contextmanager
def _described(predictor: "Predictor", input_example: Any) -> Iterator[dict[str, Any]]:
    """The arguments of MLflow's functions, while the predictor's folder exists."""
    scratch = Path(tempfile.mkdtemp(prefix="certiset-"))
    try:
        # A model in memory is converted when it is saved: the certificate is that of what was saved.
        saved = predictor.portable()
        saved.save(scratch / _FOLDER)
        certificate = saved.certificate
        metadata = {
            "certificate_id": certificate.id,
            "certificate_sha256": certificate.digest,
            "predictor_id": certificate.predictor_id,
            "statement": certificate.statement,
        }
        yield {
            "python_model": str(_CODE),
            "artifacts": {_FOLDER: str(scratch / _FOLDER)},
            "signature": _signature(saved),
            "input_example": input_example,
            "metadata": metadata,
            "pip_requirements": [f"certiset[mlflow]=={version('certiset')}"],
        }
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _signature(predictor: "Predictor") -> Any:
    """Columns by their names where the predictor knows some, otherwise an array; alpha where it can be chosen."""
    import numpy as np  # noqa: PLC0415

    models, types = _mlflow("mlflow.models"), _mlflow("mlflow.types")
    data, rule = predictor.certificate.data, predictor.groups
    if data is not None and data.columns is not None:
        groups = [] if rule is None or rule.columns is None else [c for c in rule.columns if c not in data.columns]
        columns = [types.ColSpec("double", name) for name in data.columns]
        inputs = types.Schema([*columns, *(types.ColSpec("string", name) for name in groups)])
    else:
        shape = (-1, *predictor.scorer.model.manifest.input_shape)
        inputs = types.Schema([types.TensorSpec(np.dtype(np.float64), shape)])
    if predictor.certificate.levels is None:
        return models.ModelSignature(inputs=inputs)
    level = types.ParamSpec("alpha", "double", predictor.certificate.coverage.alpha)
    return models.ModelSignature(inputs=inputs, params=types.ParamSchema([level]))


def _mlflow(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415

    with explaining("certiset.mlflow"):
        return import_module(name)
