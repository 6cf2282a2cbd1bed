"""Operators that pick, join and order entries along axes: never along the axis of rows."""

import numpy as np

from certiset.core.graphs.row_proof.call import CLASSICAL, Call, calculated, rule
from certiset.core.graphs.row_proof.values import (
    Extent,
    NotProvedError,
    Size,
    Value,
    count,
    known,
    like,
    of_rows,
    place,
)

_ALONG = "works along the axis of rows"
_TO_THE_END = 2**31 - 1
"""what exporters write for it; there are never so many rows in a batch"""


def off_the_rows(x: Value, axis: int) -> None:
    if x.rows is not None and x.rows.axis == axis:
        raise NotProvedError(_ALONG)


@rule("Gather")
def gather(call: Call) -> Value:
    x, indices = call.raw(0), call.data(1)
    axis = call.axis(0, x.rank)
    if x.content is not None and indices.content is not None:
        return known(calculated(np.take, x.content, indices.content.astype(np.int64), axis))
    x = call.data(0)
    off_the_rows(x, axis)
    shape = [*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]]
    if indices.rows is not None:
        if x.rows is not None:
            raise NotProvedError("looks up rows in other rows")
        return of_rows(shape, indices.rows.moved(axis + indices.rows.axis))
    if x.rows is None:
        return Value(tuple(shape))
    return of_rows(shape, x.rows if x.rows.axis < axis else x.rows.moved(x.rows.axis + indices.rank - 1))


@rule("GatherElements")
def gather_elements(call: Call) -> Value:
    x, indices = call.data(0), call.data(1)
    off_the_rows(x, call.axis(0, x.rank))
    if x.rows != indices.rows or x.rank != indices.rank:
        raise NotProvedError("looks up rows in other rows")
    return indices.forgotten()


@rule("ScatterElements")
def scatter_elements(call: Call) -> Value:
    x, indices, updates = (call.data(number) for number in range(3))
    off_the_rows(x, call.axis(0, x.rank))
    if not x.rows == indices.rows == updates.rows or not x.rank == indices.rank == updates.rank:
        raise NotProvedError("writes rows into other rows")
    return x.forgotten()


@rule("Slice")
def slice_(call: Call) -> Value:
    x = call.raw()
    if call.version < 10:
        starts, ends = list(call.attribute("starts")), list(call.attribute("ends"))
        axes, steps = call.attribute("axes"), None
    else:
        starts, ends = call.extents(1), call.extents(2)
        axes = call.integers(3) if call.has(3) else None
        steps = call.integers(4) if call.has(4) else None
    axes = [place(axis, x.rank) for axis in (range(len(starts)) if axes is None else axes)]
    steps = [1] * len(starts) if steps is None else steps
    if len(set(axes)) != len(axes):
        raise NotProvedError("names an axis twice")
    shape, cuts = list(x.shape), [slice(None)] * x.rank
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        whole = start == 0 and step == 1 and (end == shape[axis] or (isinstance(end, int) and end >= _TO_THE_END))
        if whole:
            continue
        off_the_rows(x, axis)
        if isinstance(start, Size) or isinstance(end, Size):
            raise NotProvedError("computes with the number of rows")
        cuts[axis] = slice(start, end, step)
        shape[axis] = len(range(*cuts[axis].indices(count([shape[axis]]))))
    if x.content is not None:
        return known(calculated(lambda content: content[tuple(cuts)], x.content))
    return like(x, shape, x.rows)


@rule("Concat")
def concat(call: Call) -> Value:
    parts = [call.raw(number) for number in range(len(call))]
    axis = call.axis(0, parts[0].rank)
    contents = [part.content for part in parts if part.content is not None]
    if len(contents) == len(parts):
        return known(calculated(np.concatenate, contents, axis))
    parts = [call.data(number) for number in range(len(call))]
    first = parts[0]
    if any(part.rows != first.rows or part.rank != first.rank for part in parts):
        raise NotProvedError("joins the rows with others than the same rows")
    off_the_rows(first, axis)
    sides = [part.shape[axis] for part in parts]
    shape = [_agreed([part.shape[number] for part in parts]) for number in range(first.rank)]
    shape[axis] = None if None in sides else sum(side for side in sides if isinstance(side, int))
    return like(first, shape, first.rows)


def _agreed(sides: list[Extent]) -> Extent:
    """Sides that must be equal where the graph runs at all."""
    return next((side for side in sides if side is not None), None)


@rule("Split")
def split(call: Call) -> list[Value]:
    x = call.raw()
    axis = call.axis(0, x.rank)
    off_the_rows(x, axis)
    side = count([x.shape[axis]])
    if call.version < 13 and call.attribute("split") is not None:
        parts = list(call.attribute("split"))
    elif call.has(1):
        parts = call.integers(1)
    else:
        each = -(-side // call.outputs)
        parts = [max(0, min(each, side - each * number)) for number in range(call.outputs)]
    if len(parts) != call.outputs or sum(parts) != side or min(parts) < 0:
        raise NotProvedError("has parts that do not fit")
    found, start = [], 0
    for part in parts:
        if x.content is not None:
            taken = np.arange(start, start + part)
            found.append(known(calculated(np.take, x.content, taken, axis)))
        else:
            found.append(like(x, [*x.shape[:axis], part, *x.shape[axis + 1 :]], x.rows))
        start += part
    return found


@rule("TopK")
def top_k(call: Call) -> list[Value]:
    x = call.data()
    axis = call.axis(-1, x.rank)
    off_the_rows(x, axis)
    kept = call.attribute("k") if call.version < 10 else call.integers(1)[0]
    found = like(x, [*x.shape[:axis], kept, *x.shape[axis + 1 :]], x.rows)
    return [found, found]


@rule("OneHot")
def one_hot(call: Call) -> Value:
    indices, depth = call.data(), call.integers(1)[0]
    call.constant(2)
    axis = place(call.attribute("axis", -1), indices.rank + 1)
    shape = [*indices.shape[:axis], depth, *indices.shape[axis:]]
    return like(indices, shape, indices.rows and indices.rows.moved(indices.rows.axis + (axis <= indices.rows.axis)))


@rule("Trilu")
def trilu(call: Call) -> Value:
    x = call.data()
    call.constants(1)
    off_the_rows(x, x.rank - 1)
    off_the_rows(x, x.rank - 2)
    return x.forgotten()


@rule("CumSum")
def cumulative_sum(call: Call) -> Value:
    x = call.data()
    off_the_rows(x, place(call.integers(1)[0], x.rank))
    return x.forgotten()


@rule("ArrayFeatureExtractor", domain=CLASSICAL)
def columns(call: Call) -> Value:
    """Of the last axis. A value with one axis alone is taken for a single row."""
    x = call.data()
    if x.rank < 2 or x.rows is None:
        raise NotProvedError("expects the rows in another place")
    off_the_rows(x, x.rank - 1)
    return of_rows([*x.shape[:-1], count(call.constant(1).shape)], x.rows)
