"""A fitted scikit-learn estimator or pipeline, or whatever has the same methods; scikit-learn itself is not needed."""

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.class_names import names_of_values
from certiset.core.data_frames import frame_names
from certiset.core.errors import ModelError
from certiset.core.models.manifest import OutputKind
from certiset.core.models.sources.base import Parts, UnboundModel
from certiset.core.models.sources.in_memory import parts_of
from certiset.core.tasks import Task

_METHODS: dict[str, OutputKind] = {"predict_proba": "probabilities", "decision_function": "logits"}
"""of classifiers, the best first"""


def is_estimator(given: Any) -> bool:
    return hasattr(given, "predict") and hasattr(given, "get_params") and not isinstance(given, type)


@dataclass(frozen=True)
class Outputs:
    """One method of an estimator as a function of rows."""

    estimator: Any
    method: str
    named: bool
    """whether it knows its columns by their names"""

    def __call__(self, rows: Any) -> NDArray[Any]:
        ask = getattr(self.estimator, self.method)
        if not self.named:
            found = np.asarray(ask(rows if frame_names(rows) is None else rows.to_numpy()))
        else:
            with warnings.catch_warnings():
                # An array in the place of the table that it was trained on: the order was checked, or is yours.
                warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
                found = np.asarray(ask(rows))
        if self.method == "decision_function" and found.ndim == 1:
            return np.column_stack([np.zeros(len(found)), found])
        return found


@dataclass(frozen=True, repr=False)
class EstimatorModel(UnboundModel):
    estimator: Any

    @property
    def title(self) -> str:
        return _name(self.estimator)

    def parts(self, x: Any, y: Any, others: Collection[str] = ()) -> Parts:
        estimator, task = self.estimator, _task(self.estimator)
        columns = getattr(estimator, "feature_names_in_", None)
        named = columns is not None
        wanted = None if columns is None or frame_names(x) is None else [str(name) for name in columns]
        name = _name(estimator)
        if task == "regression":
            return parts_of(Outputs(estimator, "predict", named), name, x, y, columns=wanted, others=others, task=task)
        method = next((method for method in _METHODS if hasattr(estimator, method)), None)
        if method is None:
            raise ModelError(
                f"{name} says classes only, and sets need to know how likely each is: give a classifier with "
                "predict_proba, for instance CalibratedClassifierCV around this one.",
                field="model",
            )
        return parts_of(
            Outputs(estimator, method, named),
            name,
            x,
            y,
            columns=wanted,
            others=others,
            task=task,
            labels=names_of_values(_classes(estimator, name)),
            outputs=_METHODS[method],
        )


def _task(estimator: Any) -> Task:
    kind = _kind(estimator)
    name = _name(estimator)
    if kind == "regressor":
        return "regression"
    if kind == "classifier":
        _classes(estimator, name)
        return "classification"
    raise ModelError(f"{name} is neither a classifier nor a regressor: give one of them.", field="model")


def _kind(estimator: Any) -> str | None:
    """By scikit-learn, where it is installed; others say it as scikit-learn used to."""
    try:
        from sklearn.base import is_classifier, is_regressor  # noqa: PLC0415 (only those who have it pay for it)

        kinds = {"classifier": is_classifier, "regressor": is_regressor}
        found = next((kind for kind, is_kind in kinds.items() if is_kind(estimator)), None)
    except (ImportError, AttributeError):
        found = None
    return found or getattr(estimator, "_estimator_type", None)


def _classes(estimator: Any, name: str) -> Any:
    try:
        classes = estimator.classes_
    except AttributeError:
        raise ModelError(
            f"{name} has no classes_: fit it first, on rows that are not used here.", field="model"
        ) from None
    if isinstance(classes, list) and classes and isinstance(classes[0], np.ndarray):
        raise ModelError(
            f"{name} has several outputs with classes of their own: give one classifier for each of them.",
            field="model",
        )
    return classes


def _name(estimator: Any) -> str:
    """Its class, or that of a pipeline's last step."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    return type(estimator if isinstance(last, str) else last).__name__
