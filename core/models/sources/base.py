"""What every kind of model knows until rows are seen: how to make the parts of a `Model` of them."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.class_names import as_named
from certiset.core.data_frames import frame_names
from certiset.core.errors import DataError
from certiset.core.models.backbones import Backbone
from certiset.core.models.heads import Head
from certiset.core.models.manifest import Manifest, OutputKind
from certiset.core.tasks import Task

PROBED = 64
"""rows whose outputs tell what the outputs are"""
_SUM = 1e-3


class Parts(NamedTuple):
    """Of a `Model`."""

    manifest: Manifest
    backbone: Backbone
    head: Head
    head_parameters: Tensor


class UnboundModel(ABC):
    """A model as its framework has it. `fit` makes a `Model` of it once it sees rows, and with them their shape."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is called where it is shown."""

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.title}: fit makes a model of it, and of the rows that it is given"

    @abstractmethod
    def parts(self, x: Any, y: Any, others: Collection[str] = ()) -> Parts:
        """For rows like these; ``others`` are columns of x that are no inputs."""


def task_of(y: Any, outputs: int) -> Task:
    """Names are classes, and so are whole numbers from 0 on where there is an output for each."""
    if as_named(y) is not None:
        return "classification"
    values = np.asarray(y.detach().cpu() if hasattr(type(y), "detach") else y)
    if values.dtype.kind == "b":
        return "classification" if outputs >= 2 else "regression"
    if outputs < 2 or values.dtype.kind not in "iuf" or values.size != len(values) or not values.size:
        return "regression"
    if not np.all(values == np.floor(values)):
        return "regression"
    if np.all((values >= 0) & (values < outputs)):
        return "classification"
    # Two outputs may be the quantiles of one number; of three or more nothing but the classes of one column is known.
    if outputs > 2 or set(np.unique(values).tolist()) == {1, 2}:
        raise DataError(
            f"The model has {outputs} outputs, one for each class, and y holds whole numbers from {values.min():.15g} "
            f"to {values.max():.15g}: classes are counted from 0, in the order of the outputs, so that y must be from "
            f"0 to {outputs - 1}.",
            field="y",
        )
    return "regression"


def kind_of(outputs: NDArray[np.floating[Any]]) -> OutputKind:
    """Rows that are not negative and add up to 1 are probabilities."""
    sums = outputs.sum(axis=1)
    return "probabilities" if np.all(outputs >= 0) and np.all(np.abs(sums - 1) <= _SUM) else "logits"


def array_of(x: Any) -> NDArray[Any]:
    """Rows that are an array of numbers, or a data frame of them."""
    if hasattr(x, "toarray"):
        raise DataError(
            "x is a sparse matrix: put the step that makes it into the pipeline and give x as it was before, or give "
            "x.toarray().",
            field="x",
        )
    found = x.detach().cpu().numpy() if hasattr(type(x), "detach") else np.asarray(x)
    if found.dtype.kind not in "biuf":
        raise DataError(f"x must hold numbers, not {found.dtype}, for this kind of model.", field="x")
    if found.ndim == 0 or len(found) == 0:
        raise DataError("x must hold at least one row.", field="x")
    return found.reshape(-1, 1) if found.ndim == 1 else found


def columns_of(x: Any, others: Collection[str]) -> list[str] | None:
    """The names of the inputs, where x is a data frame."""
    names = frame_names(x)
    return None if names is None else [name for name in names if name not in others]


def chosen(x: Any, columns: Sequence[str] | None, count: int = PROBED) -> Any:
    """The first rows of x, these columns of a data frame alone."""
    if columns is None:
        return array_of(x)[:count]
    return array_of(np.column_stack([np.asarray(x[name])[:count] for name in columns]))
