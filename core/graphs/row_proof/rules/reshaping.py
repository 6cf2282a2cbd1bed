"""Operators that give the same entries another shape."""

from collections.abc import Sequence

import numpy as np

from certiset.core.graphs.row_proof.call import Call, calculated, rule
from certiset.core.graphs.row_proof.values import (
    Extent,
    NotProvedError,
    Rows,
    Size,
    Value,
    count,
    known,
    like,
    of_rows,
    place,
)

_MIXED = "puts numbers of several rows together"


def reshaped(value: Value, target: Sequence[int | Size]) -> Value:
    """The entries in the same order in another shape; -1 stands for what is left."""
    if value.content is not None:
        wanted = [side for side in target if isinstance(side, int)]
        if len(wanted) < len(target):
            raise NotProvedError("computes with the number of rows")
        return known(calculated(np.reshape, value.content, wanted))
    if target.count(-1) > 1 or any(isinstance(side, int) and side < -1 for side in target):
        raise NotProvedError("has a shape that is not followed")
    if value.rows is None:
        return _constant(value, target)
    named = [axis for axis, side in enumerate(target) if isinstance(side, Size)] or [
        axis for axis, side in enumerate(target) if side == -1
    ]
    if len(named) != 1:
        raise NotProvedError(_MIXED if named else "fixes the number of rows")
    return _with_rows(value, value.rows, target, named[0])


def _constant(value: Value, target: Sequence[int | Size]) -> Value:
    sides = [side for side in target if isinstance(side, int)]
    if len(sides) < len(target):
        raise NotProvedError("computes with the number of rows")
    if -1 not in sides:
        return Value(tuple(sides))
    if None in value.shape:
        return Value(tuple(None if side == -1 else side for side in sides))
    rest, all_ = count([side for side in sides if side != -1]), count(value.shape)
    return Value(tuple(all_ // rest if side == -1 else side for side in sides))


def _with_rows(value: Value, rows: Rows, target: Sequence[int | Size], axis: int) -> Value:
    """Of the numbers before and after a row's own, as many must stand before and after them in the new shape."""
    in_front: list[Extent] = [*value.shape[: rows.axis], rows.outer]
    behind: list[Extent] = [rows.inner, *value.shape[rows.axis + 1 :]]
    side = target[axis]
    if side == Size(1) and axis == 0 and count(in_front) == 1:
        return of_rows([side, *_own(behind, [_number(entry) for entry in target[1:]])], Rows(0))
    before, after = count(in_front), count(behind)
    new = list(target)
    if isinstance(side, Size) and -1 in new:
        left = before * after // side.times // count([_number(entry) for entry in new if entry not in (-1, side)])
        new[new.index(-1)] = left
    outer, rest_before = divmod(before, count([_number(entry) for entry in new[:axis]]))
    inner, rest_after = divmod(after, count([_number(entry) for entry in new[axis + 1 :]]))
    if rest_before or rest_after or (isinstance(side, Size) and side.times != outer * inner):
        raise NotProvedError(_MIXED)
    return of_rows(
        [_number(entry) if number != axis else None for number, entry in enumerate(new)], Rows(axis, outer, inner)
    )


def _number(side: int | Size) -> int:
    if isinstance(side, Size):
        raise NotProvedError(_MIXED)
    return side


def _own(behind: Sequence[Extent], sides: Sequence[int]) -> list[Extent]:
    """What becomes of a row's own numbers.

    That a shape that does not fit would fail is no proof: onnxruntime may have written -1 for the number of rows, and
    then takes as many rows together as fit.
    """
    given = count([side for side in sides if side != -1])
    if None in behind:
        if -1 not in sides:
            raise NotProvedError("depends on a shape that is not known")
        return [None if side == -1 else side for side in sides]
    left, rest = divmod(count(behind), given)
    if rest or (left != 1 and -1 not in sides):
        raise NotProvedError(_MIXED)
    return [left if side == -1 else side for side in sides]


@rule("Reshape")
def reshape(call: Call) -> Value:
    x, target = call.raw(), call.extents(1)
    if 0 in target:
        if call.attribute("allowzero", 0):
            raise NotProvedError("has an axis without entries")
        if any(side == 0 and axis >= x.rank for axis, side in enumerate(target)):
            raise NotProvedError("names an axis that does not exist")
        copied: list[int | Size] = []
        for axis, side in enumerate(target):
            found = x.shape[axis] if side == 0 else side
            if found is None:
                raise NotProvedError("depends on a shape that is not known")
            copied.append(found)
        target = copied
    return reshaped(x, target)


@rule("Flatten")
def flatten(call: Call) -> Value:
    x = call.data().forgotten()
    axis = call.attribute("axis", 1)
    axis = axis + x.rank if axis < 0 else axis
    if not 0 <= axis <= x.rank:
        raise NotProvedError("names an axis that does not exist")
    if x.rows is None:
        return Value((count(x.shape[:axis]), count(x.shape[axis:])))
    if x.rows.axis < axis:
        if x.rows == Rows(0) and axis == 1:
            behind = None if None in x.shape[1:] else count(x.shape[1:])
            return of_rows([None, behind], Rows(0))
        return _with_rows(x, x.rows, [-1, count(x.shape[axis:])], 0)
    return _with_rows(x, x.rows, [count(x.shape[:axis]), -1], 1)


@rule("Transpose")
def transpose(call: Call) -> Value:
    x = call.raw()
    order = call.attribute("perm", list(reversed(range(x.rank))))
    if sorted(order) != list(range(x.rank)):
        raise NotProvedError("has an order that is not followed")
    if x.content is not None:
        return known(calculated(np.transpose, x.content, order))
    return like(x, [x.shape[axis] for axis in order], x.rows and x.rows.moved(order.index(x.rows.axis)))


@rule("Squeeze")
def squeeze(call: Call) -> Value:
    x = call.raw()
    axes = _axes(call)
    if axes is None:
        if x.rows is not None or None in x.shape:
            raise NotProvedError("drops the axis of rows when there is one row")
        axes = [axis for axis, side in enumerate(x.shape) if side == 1]
    gone = {place(axis, x.rank) for axis in axes}
    if x.rows is not None and x.rows.axis in gone:
        raise NotProvedError("drops the axis of rows")
    kept = [side for axis, side in enumerate(x.shape) if axis not in gone]
    if x.content is not None:
        return known(calculated(np.reshape, x.content, kept))
    return like(x, kept, x.rows and x.rows.moved(x.rows.axis - sum(axis < x.rows.axis for axis in gone)))


@rule("Unsqueeze")
def unsqueeze(call: Call) -> Value:
    x, axes = call.raw(), _axes(call)
    if axes is None:
        raise NotProvedError("lacks its axes")
    rank = x.rank + len(axes)
    new = {place(axis, rank) for axis in axes}
    if len(new) != len(axes):
        raise NotProvedError("names an axis twice")
    old = [axis for axis in range(rank) if axis not in new]
    shape: list[Extent] = [1] * rank
    for axis, side in zip(old, x.shape, strict=True):
        shape[axis] = side
    if x.content is not None:
        return known(calculated(np.reshape, x.content, shape))
    return like(x, shape, x.rows and x.rows.moved(old[x.rows.axis]))


def _axes(call: Call) -> list[int] | None:
    if call.version < 13:
        return call.attribute("axes")
    return call.integers(1) if call.has(1) else None


@rule("DepthToSpace", "SpaceToDepth")
def blocks(call: Call) -> Value:
    x, side = call.data(), call.attribute("blocksize")
    if x.rank != 4 or x.rows is None or x.rows.axis != 0:
        raise NotProvedError("expects the rows in another place")
    channels, height, width = (count([extent]) for extent in x.shape[1:])
    if call.operator == "DepthToSpace":
        return of_rows([None, channels // side**2, height * side, width * side], x.rows)
    return of_rows([None, channels * side**2, height // side, width // side], x.rows)
