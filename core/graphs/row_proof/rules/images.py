"""Convolutions, pooling, resizing and padding: the rows come first, and nothing is moved along them."""

from collections.abc import Sequence
from typing import Any

from certiset.core.graphs.row_proof.call import Call, rule
from certiset.core.graphs.row_proof.rules.selection import off_the_rows
from certiset.core.graphs.row_proof.values import (
    Extent,
    NotProvedError,
    Size,
    Value,
    count,
    like,
    numbers,
    of_rows,
    place,
)

_ELSEWHERE = "expects the rows in another place"


def _image(call: Call) -> Value:
    x = call.data()
    if x.rank < 3 or x.rows is None or x.rows.axis != 0:
        raise NotProvedError(_ELSEWHERE)
    return x


def _sides(call: Call, x: Value, kernel: Sequence[int], *, ceil: bool = False) -> list[Extent]:
    """The extents of windows that move over an image; not known where the padding is left to the operator."""
    axes = len(kernel)
    if axes != x.rank - 2:
        raise NotProvedError("has a window that does not fit")
    pads, strides = _attribute(call, "pads", [0] * 2 * axes), _attribute(call, "strides", [1] * axes)
    dilations = _attribute(call, "dilations", [1] * axes)
    padding = call.attribute("auto_pad", b"NOTSET")
    if padding not in (b"NOTSET", b"VALID") or ceil:
        return [None] * axes
    found: list[Extent] = []
    for axis, side in enumerate(numbers(x.shape[2:])):
        room = side if padding == b"VALID" else side + pads[axis] + pads[axis + axes]
        found.append((room - dilations[axis] * (kernel[axis] - 1) - 1) // strides[axis] + 1)
    return found


def _attribute(call: Call, name: str, default: list[int]) -> list[int]:
    found = list(call.attribute(name, default))
    if len(found) != len(default):
        raise NotProvedError("has a window that does not fit")
    return found


@rule("Conv", "ConvInteger", "QLinearConv")
def convolution(call: Call) -> Value:
    x, weights = _image(call), 3 if call.operator == "QLinearConv" else 1
    call.constants(1)
    filters = list(numbers(call.constant(weights).shape))
    if len(filters) != x.rank:
        raise NotProvedError("has a window that does not fit")
    return of_rows([None, filters[0], *_sides(call, x, filters[2:])], x.rows or _never())


@rule("ConvTranspose")
def transposed_convolution(call: Call) -> Value:
    x = _image(call)
    call.constants(1)
    channels = count([call.constant(1).shape[1]]) * call.attribute("group", 1)
    return of_rows([None, channels, *([None] * (x.rank - 2))], x.rows or _never())


@rule("AveragePool", "LpPool", "MaxPool")
def pool(call: Call) -> Value:
    """Without the places of the largest entries, which are counted through the whole batch."""
    x = _image(call)
    sides = _sides(call, x, call.attribute("kernel_shape"), ceil=bool(call.attribute("ceil_mode", 0)))
    return of_rows([None, x.shape[1], *sides], x.rows or _never())


@rule("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")
def global_pool(call: Call) -> Value:
    x = _image(call)
    return of_rows([None, x.shape[1], *([1] * (x.rank - 2))], x.rows or _never())


@rule("Pad")
def pad(call: Call) -> Value:
    x = call.data()
    if call.version < 11:
        pads = list(call.attribute("pads"))
    else:
        pads = call.integers(1)
        if call.has(2):
            call.constant(2)
    axes = [place(axis, x.rank) for axis in (call.integers(3) if call.has(3) else range(x.rank))]
    if len(pads) != 2 * len(axes) or len(set(axes)) != len(axes):
        raise NotProvedError("has a padding that does not fit")
    shape = list(x.shape)
    for number, axis in enumerate(axes):
        more = pads[number], pads[number + len(axes)]
        if more != (0, 0):
            off_the_rows(x, axis)
            shape[axis] = count([shape[axis]]) + sum(more)
    return like(x, shape, x.rows)


_IN_PLACE: dict[bytes, tuple[bytes, ...]] = {b"nearest": (b"half_pixel", b"asymmetric")}
_IN_PLACE |= dict.fromkeys((b"linear", b"cubic"), (*_IN_PLACE[b"nearest"], b"align_corners", b"pytorch_half_pixel"))
"""how coordinates are mapped so that an axis that keeps its extent is left exactly as it is"""


@rule("Resize")
def resize(call: Call) -> Value:
    x = call.data()
    mapping = call.attribute("coordinate_transformation_mode", b"half_pixel")
    plain = call.attribute("keep_aspect_ratio_policy", b"stretch") == b"stretch"
    if call.version < 11 or not plain or mapping not in _IN_PLACE[call.attribute("mode", b"nearest")]:
        raise NotProvedError("resizes in a way that is not followed")
    axes = [place(axis, x.rank) for axis in call.attribute("axes", range(x.rank))]
    shape = list(x.shape)
    by_sizes = call.has(3) and call.raw(3).shape != (0,)
    wanted: Sequence[Any] = call.extents(3) if by_sizes else list(call.content(2).reshape(-1))
    for axis, new in zip(axes, wanted, strict=True):
        if by_sizes and new != shape[axis]:
            off_the_rows(x, axis)
            shape[axis] = new
        elif not by_sizes and isinstance(new, Size):
            raise NotProvedError("computes with the number of rows")
        elif not by_sizes and new != 1:
            off_the_rows(x, axis)
            shape[axis] = None
    if any(isinstance(side, Size) and (x.rows is None or axis != x.rows.axis) for axis, side in enumerate(shape)):
        raise NotProvedError("computes with the number of rows")
    return like(x, shape, x.rows)


def _never() -> Any:
    raise NotProvedError(_ELSEWHERE)
