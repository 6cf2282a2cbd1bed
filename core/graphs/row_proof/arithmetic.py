"""Arithmetic on contents, as graphs do it to compute shapes: exactly, or not at all."""

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.graphs.row_proof.values import NotProvedError, Size

_LARGEST = 2**62
_MOST_OF_ROWS = {np.int64: 2**31, np.int32: 2**13, np.float32: 2**7, np.float64: 2**31}
"""times the number of rows that neither overflow nor are rounded, for up to 2^17 rows"""


def _of_rows(times: int, kind: type[Any]) -> Size:
    if times > _MOST_OF_ROWS.get(kind, 0):
        raise NotProvedError("multiplies the number of rows until it overflows, or is rounded")
    return Size(times, kind)


def _multiply(a: Any, b: Any) -> Any:
    if isinstance(a, Size) and isinstance(b, Size):
        raise NotProvedError("multiplies by the number of rows")
    if isinstance(b, Size):
        a, b = b, a
    if isinstance(a, Size):
        if b != int(b) or b <= 0:
            raise NotProvedError("multiplies the number of rows")
        return _of_rows(a.times * int(b), a.kind)
    return a * b


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, Size):
        times = b.times if isinstance(b, Size) else b
        if times <= 0 or a.times % times:
            raise NotProvedError("divides the number of rows")
        return a.kind(a.times // times) if isinstance(b, Size) else _of_rows(int(a.times // times), a.kind)
    if isinstance(b, Size):
        raise NotProvedError("divides by the number of rows")
    if isinstance(a, np.integer):
        if b == 0:
            raise NotProvedError("divides by zero")
        quotient = abs(int(a)) // abs(int(b))
        return type(a)(quotient if (a < 0) == (b < 0) else -quotient)
    if b == 0:
        # The sign of a zero would decide, and onnxruntime leaves out additions of zero.
        raise NotProvedError("divides by zero")
    return a / b


def _equal(a: Any, b: Any) -> Any:
    if isinstance(a, Size) and isinstance(b, Size):
        return np.bool_(a.times == b.times)
    if isinstance(b, Size):
        a, b = b, a
    if isinstance(a, Size):
        # There is at least one row.
        if b >= 1:
            raise NotProvedError("compares the number of rows")
        return np.bool_(False)
    return np.bool_(a == b)


def _remainder(a: Any, b: Any) -> Any:
    """With the sign of the divisor, as ONNX has it for whole numbers."""
    if b == 0 or not isinstance(a, np.integer):
        raise NotProvedError("divides by zero, or floats")
    return a % b


def _extreme(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Without NaN: of that and a number Python gives the one that comes first."""

    def checked(a: Any, b: Any) -> Any:
        if np.isnan(a) or np.isnan(b):
            raise NotProvedError("compares a number with NaN")
        return function(a, b)

    return checked


def _where(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """For numbers alone."""

    def checked(*entries: Any) -> Any:
        if any(isinstance(entry, Size) for entry in entries):
            raise NotProvedError("computes with the number of rows")
        return function(*entries)

    return checked


def _same(a: Any) -> Any:
    return a


def _rounded(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda a: a if isinstance(a, Size) else function(a)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Add": _plain(lambda a, b: a + b),
    "Sub": _plain(lambda a, b: a - b),
    "Mul": _multiply,
    "Div": _divide,
    "Mod": _plain(_remainder),
    "Equal": _equal,
    "Where": _where,
    "Identity": _same,
    "Floor": _rounded(np.floor),
    "Ceil": _rounded(np.ceil),
    "Abs": _rounded(np.abs),
    "Neg": _plain(lambda a: -a),
    "Not": _plain(np.logical_not),
    "And": _plain(np.logical_and),
    "Or": _plain(np.logical_or),
    "Greater": _plain(lambda a, b: np.bool_(a > b)),
    "Less": _plain(lambda a, b: np.bool_(a < b)),
    "GreaterOrEqual": _plain(lambda a, b: np.bool_(a >= b)),
    "LessOrEqual": _plain(lambda a, b: np.bool_(a <= b)),
    "Min": _plain(lambda *entries: reduce(_extreme(min), entries)),
    "Max": _plain(lambda *entries: reduce(_extreme(max), entries)),
}


def folds(operator: str) -> bool:
    return operator in _FUNCTIONS


def fold(operator: str, inputs: list[NDArray[Any]]) -> NDArray[Any]:
    """The content of the output. Whole numbers that come near to an overflow are not followed."""
    try:
        arrays = np.broadcast_arrays(*inputs)
    except ValueError:
        raise NotProvedError("combines shapes that do not fit") from None
    found = np.empty(arrays[0].shape, dtype=object)
    with np.errstate(all="ignore"):
        for place in np.ndindex(found.shape):
            found[place] = _checked(_FUNCTIONS[operator](*(array[place] for array in arrays)))
    return found


def _checked(entry: Any) -> Any:
    if isinstance(entry, Size):
        size = entry.times
    elif isinstance(entry, np.bool_) or not math.isfinite(entry):
        return entry
    else:
        size = abs(int(entry)) if isinstance(entry, np.integer | int) else 0
    if size >= _LARGEST:
        raise NotProvedError("has numbers that are too large")
    return entry


_KEPT = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}
"""ONNX's numbers of the types in which shapes are computed"""


def cast(content: NDArray[Any], to: int) -> NDArray[Any] | None:
    """None if contents of that type are not followed."""
    kind = _KEPT.get(to)
    if kind is None:
        return None
    found = np.empty(content.shape, dtype=object)
    for place in np.ndindex(content.shape):
        entry = content[place]
        if isinstance(entry, Size):
            if kind is np.bool_:
                raise NotProvedError("computes with the number of rows")
            found[place] = _of_rows(entry.times, kind)
            continue
        if kind is not np.bool_ and not (math.isfinite(entry) and abs(entry) < 2**31) and entry.dtype != kind:
            return None
        found[place] = kind(entry)
    return found
