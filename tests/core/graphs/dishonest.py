"""Graphs in which a row sees the others: what each says of a row depends on the company in which it is served."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.core.graphs.nodes import COLUMNS, Graph, graph, in_a_function, ints, op, part

DISHONEST: dict[str, Graph] = {}


def _add(name: str) -> Callable[[Graph], Graph]:
    def add(made: Graph) -> Graph:
        DISHONEST[name] = made
        return made

    return add


def _simple(name: str, *nodes: onnx.NodeProto, **arrays: Any) -> None:
    DISHONEST[name] = lambda: graph(*nodes, **arrays)


FIRST = {"zero": ints(0)}
_simple("centred over rows", op("ReduceMean", ["x"], ["m"], axes=[0]), op("Sub", ["x", "m"]))
_simple(
    "scaled by the largest row",
    op("Abs", ["x"], ["a"]),
    op("ReduceMax", ["a"], ["m"], axes=[0]),
    op("Div", ["x", "m"]),
)
_simple("mean of all", op("ReduceMean", ["x"], ["m"]), op("Sub", ["x", "m"]))
_simple(
    "attention over rows",
    op("Transpose", ["x"], ["t"], perm=[1, 0]),
    op("MatMul", ["x", "t"], ["products"]),
    op("Softmax", ["products"], ["weights"], axis=1),
    op("MatMul", ["weights", "x"]),
)
_simple(
    "attention over rows by Einsum",
    op("Einsum", ["x", "x"], ["products"], equation="ik,jk->ij"),
    op("Softmax", ["products"], ["weights"], axis=1),
    op("Einsum", ["weights", "x"], equation="ij,jk->ik"),
)
_simple("softmax over rows", op("Softmax", ["x"], axis=0))
_simple("norm over rows", op("LpNormalization", ["x"], axis=0))
_simple(
    "batch norm by hand",
    op("ReduceMean", ["x"], ["m"], axes=[0]),
    op("Sub", ["x", "m"], ["c"]),
    op("ReduceL2", ["c"], ["s"], axes=[0]),
    op("Add", ["s", "one"], ["t"]),
    op("Div", ["c", "t"]),
    one=np.float32(1),
)
_simple("running sum over rows", op("CumSum", ["x", "zero"]), zero=np.int64(0))
_simple(
    "the largest of all rows",
    op("TopK", ["x", "one"], ["largest", "where"], axis=0),
    op("Sub", ["x", "largest"]),
    one=ints(1),
)
_simple("the first row", op("Gather", ["x", "zero"], ["first"], axis=0), op("Sub", ["x", "first"]), **FIRST)
_simple(
    "flipped rows",
    op("Slice", ["x", "from", "to", "zero", "back"], ["flipped"]),
    op("Add", ["x", "flipped"]),
    **FIRST,
    **{"from": ints(-1), "to": ints(-(2**62)), "back": ints(-1)},
)
_simple(
    "joined with flipped rows",
    op("Slice", ["x", "from", "to", "zero", "back"], ["flipped"]),
    op("Concat", ["x", "flipped"], ["both"], axis=0),
    op("Shape", ["x"], ["shape"]),
    op("Slice", ["shape", "zero", "one"], ["n"]),
    op("Slice", ["both", "n", "end", "zero"]),
    **FIRST,
    **{"from": ints(-1), "to": ints(-(2**62)), "back": ints(-1), "one": ints(1), "end": ints(2**62)},
)
_simple(
    "rows that are reshaped across",
    op("Transpose", ["x"], ["t"], perm=[1, 0]),
    op("Reshape", ["t", "shape"]),
    shape=ints(-1, COLUMNS),
)
_simple(
    "a padded and cut batch",
    op("Pad", ["x", "pads"], ["longer"]),
    op("Shape", ["x"], ["shape"]),
    op("Slice", ["shape", "zero", "one"], ["n"]),
    op("Slice", ["longer", "zero", "n", "zero"]),
    pads=ints(1, 0, 0, 0),
    zero=ints(0),
    one=ints(1),
)
_simple(
    "an image of all rows that is resized",
    op("Unsqueeze", ["x", "axes"], ["image"]),
    op("Resize", ["image", "", "half"], ["small"], mode="linear"),
    op("ReduceMean", ["small"], ["m"], axes=[2]),
    op("Squeeze", ["m", "axes"], ["s"]),
    op("Sub", ["x", "s"]),
    axes=ints(0, 1),
    half=np.array([1, 1, 0.5, 1], dtype=np.float32),
)
_simple(
    "a scale for the whole batch",
    op("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero_point"]),
    op("DequantizeLinear", ["q", "scale", "zero_point"]),
)
_simple(
    "rows paired with columns",
    op("ReduceSum", ["x", "one"], ["sums"], keepdims=0),
    op("Unsqueeze", ["sums", "one"], ["column"]),
    op("Sub", ["column", "sums"], ["differences"]),
    op("Sigmoid", ["differences"], ["ranks"]),
    op("ReduceSum", ["ranks", "one"], ["rank"]),
    op("Add", ["x", "rank"]),
    one=ints(1),
)
_simple(
    "how many are not zero",
    op("NonZero", ["x"], ["places"]),
    op("Shape", ["places"], ["shape"]),
    op("Gather", ["shape", "one"], ["count"]),
    op("Cast", ["count"], ["number"], to=TensorProto.FLOAT),
    op("Mul", ["x", "number"]),
    one=ints(1),
)
_simple(
    "the number of rows",
    op("Shape", ["x"], ["shape"]),
    op("Gather", ["shape", "zero"], ["count"]),
    op("Cast", ["count"], ["number"], to=TensorProto.FLOAT),
    op("Div", ["x", "number"]),
    **FIRST,
)
_simple(
    "the place in the batch",
    op("Shape", ["x"], ["shape"]),
    op("Gather", ["shape", "nought"], ["count"]),
    op("Range", ["nought", "count", "step"], ["places"]),
    op("Cast", ["places"], ["numbers"], to=TensorProto.FLOAT),
    op("Unsqueeze", ["numbers", "one"], ["column"]),
    op("Add", ["x", "column"]),
    nought=np.int64(0),
    step=np.int64(1),
    one=ints(1),
)
_simple(
    "expanded to all pairs",
    op("Shape", ["x"], ["shape"]),
    op("Slice", ["shape", "zero", "one"], ["n"]),
    op("Concat", ["n", "shape"], ["all"], axis=0),
    op("Expand", ["x", "all"], ["pairs"]),
    op("ReduceMax", ["pairs"], ["m"], axes=[1], keepdims=0),
    op("Sub", ["x", "m"]),
    zero=ints(0),
    one=ints(1),
)
_simple(
    "flattened into one row",
    op("Flatten", ["x"], ["flat"], axis=0),
    op("ReduceMax", ["flat"], ["m"]),
    op("Sub", ["x", "m"]),
)
_simple(
    "one row of a tree's",
    op("ReduceSum", ["x", "one"], ["sums"], keepdims=0),
    op("Unsqueeze", ["sums", "zero"], ["as_one"]),
    op("ReduceMax", ["as_one"], ["m"], axes=[1]),
    op("Sub", ["x", "m"]),
    one=ints(1),
    zero=ints(0),
)


@_add("branching on the number of rows")
def _branching() -> bytes:
    return graph(
        op("Shape", ["x"], ["shape"]),
        op("Gather", ["shape", "nought"], ["count"]),
        op("Greater", ["count", "one"], ["many"]),
        op(
            "If",
            ["many"],
            then_branch=part("many", op("Neg", ["x"], ["a"])),
            else_branch=part("one", op("Identity", ["x"], ["b"])),
        ),
        nought=np.int64(0),
        one=np.int64(1),
    )


@_add("branching on the largest row")
def _branching_on_data() -> bytes:
    return graph(
        op("ReduceMax", ["x"], ["m"], keepdims=0),
        op("Greater", ["m", "limit"], ["large"]),
        op(
            "If",
            ["large"],
            then_branch=part("large", op("Neg", ["x"], ["a"])),
            else_branch=part("small", op("Identity", ["x"], ["b"])),
        ),
        limit=np.float32(20),
    )


@_add("a loop over rows")
def _looping() -> bytes:
    body = helper.make_graph(
        [
            op("Gather", ["x", "turn"], ["row"], axis=0),
            op("Add", ["sum", "row"], ["next"]),
            op("Identity", ["before"], ["again"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("before", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, [COLUMNS]),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [COLUMNS]),
        ],
    )
    return graph(
        op("Shape", ["x"], ["shape"]),
        op("Gather", ["shape", "nought"], ["count"]),
        op("Loop", ["count", "go_on", "start"], ["sum_of_rows"], body=body),
        op("Sub", ["x", "sum_of_rows"]),
        nought=np.int64(0),
        go_on=np.bool_(True),
        start=np.zeros(COLUMNS, dtype=np.float32),
    )


@_add("a scan over rows")
def _scanning() -> bytes:
    body = helper.make_graph(
        [op("Add", ["state", "row"], ["next"]), op("Identity", ["next"], ["kept"])],
        "body",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [COLUMNS]) for name in ("state", "row")],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [COLUMNS]) for name in ("next", "kept")],
    )
    return graph(
        op("Scan", ["start", "x"], ["end", "y"], body=body, num_scan_inputs=1),
        start=np.zeros(COLUMNS, dtype=np.float32),
    )


DISHONEST["hidden in a function"] = lambda: in_a_function(
    op("ReduceMean", ["a"], ["m"], axes=[0]), op("Sub", ["a", "m"], ["b"])
)
