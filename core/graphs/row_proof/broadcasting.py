"""Shapes that are stretched to fit each other, with the rows of each in one and the same place."""

from collections.abc import Sequence

from certiset.core.graphs.row_proof.values import Extent, NotProvedError, Rows, Value, of_rows


def broadcast(values: Sequence[Value]) -> Value:
    """What an operator gives that computes each entry from the entries in the same place.

    A value without rows must have one entry where the others have their rows: with more it would meet row by row what
    it has by position, and a batch of one row would be stretched to many.
    """
    rank = max(value.rank for value in values)
    places = {_aligned(value.rows, rank - value.rank) for value in values if value.rows is not None}
    if len(places) > 1:
        raise NotProvedError("pairs the rows with something other than the same rows")
    rows = next(iter(places), None)
    shape = [_extent(values, axis, rank, rows) for axis in range(rank)]
    return Value(tuple(shape)) if rows is None else of_rows(shape, rows)


def _aligned(rows: Rows, by: int) -> Rows:
    return rows.moved(rows.axis + by)


def _extent(values: Sequence[Value], axis: int, rank: int, rows: Rows | None) -> Extent:
    sides = [value.shape[axis - rank + value.rank] for value in values if axis >= rank - value.rank]
    if rows is not None and axis == rows.axis:
        fixed = [value for value in values if value.rows is None and axis >= rank - value.rank]
        if any(value.shape[axis - rank + value.rank] != 1 for value in fixed):
            raise NotProvedError("pairs rows with a constant by their position in the batch")
        return rows.extent
    longer = {side for side in sides if side != 1}
    lengths = longer - {None}
    if len(lengths) > 1:
        raise NotProvedError("combines shapes that do not fit")
    if lengths:
        return lengths.pop()
    return None if longer else 1
