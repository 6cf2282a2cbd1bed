"""Operators that summarise along axes, or normalise along them: never along the axis of rows."""

from certiset.core.graphs.row_proof.call import Call, rule
from certiset.core.graphs.row_proof.rules.selection import off_the_rows
from certiset.core.graphs.row_proof.values import Extent, NotProvedError, Value, like, place

_REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]


@rule(*(f"Reduce{name}" for name in _REDUCTIONS))
def reduce(call: Call) -> Value:
    x = call.data()
    axes = _axes(call)
    if not axes:
        if call.attribute("noop_with_empty_axes", 0):
            return x.forgotten()
        axes = list(range(x.rank))
    return _without(x, {place(axis, x.rank) for axis in axes}, call.attribute("keepdims", 1))


def _axes(call: Call) -> list[int] | None:
    if call.version < (13 if call.operator == "ReduceSum" else 18):
        return call.attribute("axes")
    return call.integers(1) if call.has(1) else None


def _without(x: Value, axes: set[int], keep: int) -> Value:
    if x.rows is not None and x.rows.axis in axes:
        raise NotProvedError("summarises over rows")
    if keep:
        return like(x, [1 if axis in axes else side for axis, side in enumerate(x.shape)], x.rows)
    shape = [side for axis, side in enumerate(x.shape) if axis not in axes]
    return like(x, shape, x.rows and x.rows.moved(x.rows.axis - sum(axis < x.rows.axis for axis in axes)))


@rule("ArgMax", "ArgMin")
def place_of_extreme(call: Call) -> Value:
    x = call.data()
    return _without(x, {call.axis(0, x.rank)}, call.attribute("keepdims", 1))


@rule("Softmax", "LogSoftmax", "Hardmax")
def softmax(call: Call) -> Value:
    x = call.data()
    if call.version >= 13:
        off_the_rows(x, call.axis(-1, x.rank))
    else:
        # Everything from the axis on is one distribution.
        first = call.axis(1, x.rank)
        for axis in range(first, x.rank):
            off_the_rows(x, axis)
    return x.forgotten()


@rule("LpNormalization")
def lp_normalization(call: Call) -> Value:
    x = call.data()
    off_the_rows(x, call.axis(-1, x.rank))
    return x.forgotten()


@rule("MeanVarianceNormalization")
def mean_variance_normalization(call: Call) -> Value:
    x = call.data()
    for axis in call.attribute("axes", [0, 2, 3]):
        off_the_rows(x, place(axis, x.rank))
    return x.forgotten()


@rule("LayerNormalization", "RMSNormalization")
def layer_normalization(call: Call) -> list[Value]:
    x = call.data()
    call.constants(1)
    first = call.axis(-1, x.rank)
    for axis in range(first, x.rank):
        off_the_rows(x, axis)
    for number in range(1, len(call)):
        if call.has(number) and call.raw(number).rank > x.rank - first:
            raise NotProvedError("has a scale of a shape that is not followed")
    sides: list[Extent] = [*x.shape[:first], *([1] * (x.rank - first))]
    summary = like(x, sides, x.rows)
    return [x.forgotten(), summary, summary]


@rule("BatchNormalization")
def batch_normalization(call: Call) -> Value:
    """With the means and variances that it came with; with those of the batch it is what its name says."""
    if call.attribute("training_mode", 0) or call.outputs > 1:
        raise NotProvedError("takes means over rows")
    return _with_rows_first(call)


@rule("InstanceNormalization", "GroupNormalization", "LRN")
def within_a_row(call: Call) -> Value:
    return _with_rows_first(call)


def _with_rows_first(call: Call) -> Value:
    x = call.data()
    call.constants(1)
    if x.rank < 2 or x.rows is None or x.rows.axis != 0:
        raise NotProvedError("expects the rows in another place")
    return x.forgotten()
