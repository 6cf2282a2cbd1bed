"""The one place that checks arrays: uploads, fits and predictions accept the same and refuse in the same sentences.

Rows and columns are counted from 1 in every message. A torch tensor is known by its methods: uploads run without torch.
"""

import hashlib
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from certiset.core.class_names import read_truths
from certiset.core.data.group_labels import GroupLabels
from certiset.core.data.model_protocol import ModelLike
from certiset.core.errors import DataError

INSTEAD_OF_NAMES = "Truths are all numbers, or all names of classes."

_ROWS_AT_ONCE = 65_536
_FEW = 65_536
"""numbers that are looked at in one go"""
_LARGEST_LABEL = np.iinfo(np.int64).max


@dataclass(frozen=True)
class CheckedData:
    """Data that fit a model."""

    x: NDArray[Any]
    """(rows, *input_shape)"""
    y: NDArray[Any]
    """(rows,) labels or (rows, targets)"""
    columns: list[str] | None = None
    """names of the inputs, where they have some"""
    clusters: NDArray[np.int64] | None = None
    """(rows,): the number of each row's cluster, from 0 on, where rows belong together"""
    times: NDArray[Any] | None = None
    """(rows,): when each row was made, where that orders them"""
    groups: GroupLabels | None = None
    """of each row, where every group is promised; not for classes, which y says"""
    weights: NDArray[np.float64] | None = None
    """(rows,): how much more frequent such a row is in the population that is meant, up to a factor"""
    labels: list[str] | None = None
    """names of the classes, where they have some"""

    @property
    def sha256(self) -> str:
        digest, roles = hashlib.sha256(), ("clusters", "times", "weights")
        for role, array in (("", self.x), ("", self.y), *((role, getattr(self, role)) for role in roles)):
            if array is None:
                continue
            digest.update(f"{role}{array.dtype.str}{array.shape}".encode())
            for start in range(0, len(array), _ROWS_AT_ONCE):
                digest.update(np.ascontiguousarray(array[start : start + _ROWS_AT_ONCE]).tobytes())
        if self.groups is not None:
            digest.update(b"groups" + self.groups.content)
        return digest.hexdigest()

    def take(self, places: NDArray[np.int64]) -> "CheckedData":
        """Some of the rows, in that order."""
        roles = {role: getattr(self, role) for role in ("clusters", "times", "weights")}
        taken = {role: None if array is None else array[places] for role, array in roles.items()}
        groups = None if self.groups is None else self.groups.take(places)
        return CheckedData(self.x[places], self.y[places], self.columns, **taken, groups=groups)


def check_inputs(model: ModelLike, x: ArrayLike) -> NDArray[Any]:
    """Inputs of a model as (rows, *input_shape) of finite numbers; each row may come flat, in that order.

    Nothing else is reshaped: numbers that fit by their count alone, such as an image with its channels last, are
    another input.
    """
    inputs = as_numbers("x", x)
    shape = model.manifest.input_shape
    if inputs.shape[1:] != shape:
        count = math.prod(shape)
        if inputs.shape[1:] != (count,) and not (count == 1 and inputs.ndim == 1):
            flat = f" or one row of {count} numbers" if len(shape) > 1 else ""
            # What has one axis too few is most often one input alone.
            alone = ": x[None] is a batch of this row alone" if inputs.shape in (shape, (count,)) else ""
            found = f"but x has rows of shape {inputs.shape[1:]}{alone}"
            _refuse("x", f"The model takes inputs of shape {shape}{flat}, {found}.")
        inputs = inputs.reshape(-1, *shape)
    if model.takes_missing:
        _check_bounded(inputs)
    else:
        check_finite("x", inputs)
    return inputs


def check_data(model: ModelLike, x: ArrayLike, y: ArrayLike, *, allow_missing_classes: bool) -> CheckedData:
    """Data to calibrate a model on: labels of its classes, or columns of numbers that are not all the same."""
    classes = model.manifest.task == "classification"
    numbers, names = read_truths(y, model.manifest.labels, model.outputs) if classes else (y, None)
    inputs, targets = check_inputs(model, x), as_numbers("y", numbers)
    _check_lengths(inputs, targets)
    check_finite("y", targets)
    if classes:
        labels = _labels(targets, model.outputs, allow_missing_classes, names)
        return CheckedData(inputs, labels, labels=None if names is None else list(names))
    columns = targets.reshape(len(targets), -1).astype(np.float64)
    if np.all(columns == columns[0]):
        _refuse("y", "y is the same in every row: there is nothing to calibrate.")
    return CheckedData(inputs, columns)


def check_unlabelled(x: ArrayLike, *, allow_missing: bool = False) -> NDArray[Any]:
    """Inputs without truths whose model is not known yet: (rows, ...), at least two of them.

    In tables numbers may be missing, as NaN: which columns are inputs is not known yet either.
    """
    inputs = as_numbers("x", x)
    _check_count(inputs)
    if inputs.size == 0:
        _refuse("x", "x has no columns.")
    if not allow_missing:
        check_finite("x", inputs)
    return inputs


def check_dataset(x: ArrayLike, y: ArrayLike, *, allow_missing: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """Data whose model is not known yet: x like `check_unlabelled`, y as (rows,) or (rows, targets)."""
    inputs, targets = as_numbers("x", x), as_numbers("y", y)
    _check_lengths(inputs, targets)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim > 2 or targets.size == 0:
        _refuse("y", f"y must hold one number or one vector per row, not rows of shape {targets.shape[1:]}.")
    check_unlabelled(inputs, allow_missing=allow_missing)
    check_finite("y", targets)
    if targets.dtype.kind in "bu":
        if targets.itemsize == 8 and targets.max() > _LARGEST_LABEL:
            _refuse("y", f"y holds {targets.max()}, which is too large.")
        targets = targets.astype(np.int64)
    return inputs, targets


def as_numbers(name: str, value: ArrayLike) -> NDArray[Any]:
    """(rows, ...) of numbers in this machine's byte order."""
    array = value if type(value) is np.ndarray else _array(name, value)
    dtype = array.dtype
    if dtype.hasobject:
        _refuse_objects(name, array)
    check_dtype(name, dtype)
    if array.ndim == 0:
        _refuse(name, f"{name} must hold one row for each point, not a single number.")
    if dtype.isnative and dtype.itemsize <= 8:
        return array
    wanted: DTypeLike = np.float64 if dtype.itemsize > 8 else dtype.newbyteorder("=")
    return array.astype(wanted)


def _refuse_objects(name: str, array: NDArray[Any]) -> None:
    """Names the first cell that is no number, where there is one; None is what JSON calls null."""
    if array.ndim == 0:
        given: Any = array[()]
        _refuse(name, f"{name} must be an array of numbers, not {'None' if given is None else type(given).__name__}.")
    for place in itertools.islice(np.ndindex(array.shape), _FEW):
        cell: Any = array[place]
        if cell is None or isinstance(cell, str):
            shown = "nothing" if cell is None else repr(cell[:40])
            _refuse(name, f"{name} must hold numbers, and {_where(place)} holds {shown}.")


def _where(place: tuple[int, ...]) -> str:
    columns = ", ".join(str(side + 1) for side in place[1:])
    return f"row {place[0] + 1}" + (f", column {columns}" if columns else "")


def check_dtype(name: str, dtype: "np.dtype[Any]", what: str | None = None) -> None:
    """Refuses what is not a number; ``what`` is how the sentence calls the array."""
    if dtype.kind not in "biuf":
        advice = f" {INSTEAD_OF_NAMES}" if name == "y" and dtype.kind in "USO" else ""
        found = "Python objects" if dtype.hasobject else dtype
        _refuse(name, f"{what or name} must hold numbers, not {found}.{advice}")


def check_finite(name: str, array: NDArray[Any]) -> None:
    if array.dtype.kind != "f" or (array.size <= _FEW and np.isfinite(array).all()):
        return
    place = _first(array, lambda part: ~np.isfinite(part))
    if place is not None:
        _refuse(name, f"{name} must be finite, and {_where(place)} is {array[place]}.")


def _check_bounded(array: NDArray[Any]) -> None:
    """Numbers that are missing are the model's business; infinite ones are a mistake."""
    if array.dtype.kind == "f":
        place = _first(array, np.isinf)
        if place is not None:
            _refuse("x", f"x must not be infinite, and row {place[0] + 1} is.")


def _array(name: str, value: ArrayLike) -> NDArray[Any]:
    try:
        if hasattr(type(value), "detach"):
            return _from_tensor(value)
        return np.asarray(value)
    except (ValueError, TypeError):
        _refuse(name, f"{name} must be an array of numbers whose rows all have one shape.")


def _from_tensor(tensor: Any) -> NDArray[Any]:
    host = tensor.detach().cpu()
    try:
        return host.numpy()
    except TypeError:
        # NumPy has no bfloat16.
        return host.float().numpy()


def _check_lengths(x: NDArray[Any], y: NDArray[Any]) -> None:
    if len(x) != len(y):
        _refuse("y", f"x has {len(x)} rows and y has {len(y)}: one target per row is needed.")
    _check_count(x)


def _check_count(x: NDArray[Any]) -> None:
    if len(x) < 2:
        _refuse("x", f"The data have {'one row' if len(x) else 'no rows'}, and at least two are needed.")


def _labels(
    targets: NDArray[Any], classes: int, allow_missing_classes: bool, names: tuple[str, ...] | None = None
) -> NDArray[np.int64]:
    flat = targets.reshape(len(targets), -1)
    if flat.shape[1] != 1:
        _refuse("y", f"y must hold one label per row, not {flat.shape[1]} columns.")
    values = flat[:, 0]
    if values.dtype.kind == "f":
        _check_values(values, lambda part: part != np.floor(part), "labels must be whole numbers")
    if values.dtype.kind != "b":
        allowed = f"labels must be from 0 to {classes - 1}, the model's classes"
        _check_values(values, lambda part: (part < 0) | (part >= classes), allowed)
    labels = values.astype(np.int64)
    seen = np.unique(labels)
    if seen.size == 1:
        only = seen[0] if names is None else repr(names[seen[0]])
        _refuse("y", f"In y, every label is {only}: there is nothing to calibrate.")
    if seen.size < classes and not allow_missing_classes:
        missing = sorted(set(range(classes)) - set(seen.tolist()))
        words = [str(label) if names is None else repr(names[label]) for label in missing[:5]]
        shown = ", ".join(words) + (", ..." if len(missing) > 5 else "")
        _refuse(
            "y",
            f"In y, no row has label {shown}: the data do not look like the model's {classes} classes. "
            "If that is intended, pass allow_missing_classes=True.",
        )
    return labels


def _check_values(values: NDArray[Any], is_wrong: Callable[[NDArray[Any]], NDArray[np.bool_]], rule: str) -> None:
    place = _first(values, is_wrong)
    if place is not None:
        _refuse("y", f"In y, {rule}, and row {place[0] + 1} holds {values[place]:.15g}.")


def _first(array: NDArray[Any], is_wrong: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> tuple[int, ...] | None:
    """The place of the first wrong number, looked for in parts so that large data need no second copy."""
    for start in range(0, len(array), _ROWS_AT_ONCE):
        wrong = is_wrong(array[start : start + _ROWS_AT_ONCE])
        if wrong.any():
            row, *columns = map(int, np.argwhere(wrong)[0])
            return (start + row, *columns)
    return None


def _refuse(field: str, message: str) -> NoReturn:
    raise DataError(message, field=field)
