"""Operators that read shapes and make values of a given shape."""

import numpy as np

from certiset.core.graphs.row_proof.call import Call, calculated, rule
from certiset.core.graphs.row_proof.values import (
    MOST_ENTRIES,
    Extent,
    NotProvedError,
    Rows,
    Size,
    Value,
    contents,
    count,
    known,
    of_rows,
)


@rule("Shape")
def shape(call: Call) -> Value:
    sides = call.raw().shape[slice(call.attribute("start", 0), call.attribute("end"))]
    found = np.empty(len(sides), dtype=object)
    for axis, side in enumerate(sides):
        if side is None:
            raise NotProvedError("depends on a shape that is not known")
        found[axis] = side if isinstance(side, Size) else np.int64(side)
    return known(found)


@rule("Size")
def size(call: Call) -> Value:
    x = call.raw()
    found = np.empty((), dtype=object)
    times = count([side.times if isinstance(side, Size) else side for side in x.shape])
    found[()] = np.int64(times) if x.rows is None else Size(times)
    return known(found)


@rule("ConstantOfShape")
def constant_of_shape(call: Call) -> Value:
    """One number everywhere: with the number of rows as an extent it is the same for each of them."""
    target = call.extents(0)
    made = _filled(Value(()), target)
    sides = [side for side in made.shape if isinstance(side, int)]
    if made.rows is not None or count([1, *(side for side in sides if side)]) > MOST_ENTRIES:
        return made
    fill = call.attribute("value", np.zeros(1, dtype=np.float32))
    return known(contents(np.full(sides, fill.reshape(-1)[0]))) if fill.dtype.kind in "biuf" else made


@rule("Expand")
def expand(call: Call) -> Value:
    x, target = call.raw(), call.extents(1)
    if x.content is not None and not any(isinstance(side, Size) for side in target):
        sides = np.broadcast_shapes(x.content.shape, tuple(side for side in target if isinstance(side, int)))
        if count([1, *(side for side in sides if side)]) <= MOST_ENTRIES:
            return known(calculated(np.broadcast_to, x.content, sides))
    return _filled(call.data(), target)


def _filled(x: Value, target: list[int | Size]) -> Value:
    rank = max(x.rank, len(target))
    wanted: list[int | Size] = [*([1] * (rank - len(target))), *target]
    given: list[Extent] = [*([1] * (rank - x.rank)), *x.shape]
    rows = x.rows and x.rows.moved(x.rows.axis + rank - x.rank)
    made: list[Extent] = []
    for axis, (side, new) in enumerate(zip(given, wanted, strict=True)):
        if isinstance(new, int) and new < 0:
            raise NotProvedError("has a shape that is not followed")
        if isinstance(new, Size) and side == 1 and rows is None:
            rows = Rows(axis, 1, new.times)
            made.append(new)
        elif new in (1, side):
            made.append(side)
        elif side == 1 and not isinstance(new, Size):
            made.append(new)
        else:
            raise NotProvedError("stretches the rows, or a constant along them")
    return Value(tuple(made)) if rows is None else of_rows(made, rows)


@rule("Range")
def range_(call: Call) -> Value:
    start, limit, step = (call.content(number).reshape(-1)[0] for number in range(3))
    if any(isinstance(entry, Size) for entry in (start, limit, step)):
        raise NotProvedError("counts the rows")
    if not isinstance(start, np.integer) or step == 0 or abs((int(limit) - int(start)) // int(step)) > MOST_ENTRIES:
        raise NotProvedError("has a length that is not followed")
    return known(contents(np.arange(start, limit, step)))


@rule("Tile")
def tile(call: Call) -> Value:
    x, repeats = call.data(), call.integers(1)
    if len(repeats) != x.rank or (x.rows is not None and repeats[x.rows.axis] != 1):
        raise NotProvedError("repeats the rows")
    if x.rows is None:
        return Value(tuple(side * times for side, times in zip(_known(x), repeats, strict=True)))
    sides = [side if times == 1 else count([side]) * times for side, times in zip(x.shape, repeats, strict=True)]
    return of_rows(sides, x.rows)


def _known(x: Value) -> list[int]:
    return [count([side]) for side in x.shape]
