"""More graphs in which a row sees the others, by operators that pick, scatter, order and count."""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.core.graphs.nodes import COLUMNS, Graph, given, graph, ints, op

MORE: dict[str, Graph] = {}


def _simple(name: str, *nodes: onnx.NodeProto, **arrays: Any) -> None:
    MORE[name] = lambda: graph(*nodes, **arrays)


def later(opset: int, *nodes: onnx.NodeProto, **arrays: Any) -> bytes:
    """From x of shape (rows, 4) to y, with newer operators."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", COLUMNS]) for name in "xy")
    made = helper.make_graph(list(nodes), "graph", [x], [y], given(**arrays))
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    content: bytes = model.SerializeToString()
    return content


_simple("the length of each column", op("ReduceL2", ["x"], ["l"], axes=[0]), op("Div", ["x", "l"]))
_simple("normalised along rows", op("LpNormalization", ["x"], axis=0, p=2))
_simple(
    "the first row, by Gather", op("Gather", ["x", "zero"], ["first"], axis=0), op("Sub", ["x", "first"]), zero=ints(0)
)
_simple("the last row, by Gather", op("Gather", ["x", "last"], ["row"], axis=0), op("Sub", ["x", "row"]), last=ints(-1))
_simple(
    "the last row, by GatherND", op("GatherND", ["x", "last"], ["row"]), op("Sub", ["x", "row"]), last=np.array([[-1]])
)
_simple(
    "a row that is written over",
    op("Gather", ["x", "last"], ["row"], axis=0),
    op("ScatterND", ["x", "first", "row"]),
    last=ints(-1),
    first=np.array([[0]]),
)
_simple(
    "every other row",
    op("Slice", ["x", "start", "end", "zero", "step"], ["some"]),
    op("ReduceMax", ["some"], ["m"], axes=[0]),
    op("Sub", ["x", "m"]),
    start=ints(-1),
    end=ints(-(2**62)),
    zero=ints(0),
    step=ints(-2),
)
_simple(
    "how many different numbers",
    op("Unique", ["x"], ["values"]),
    op("Shape", ["values"], ["count"]),
    op("Cast", ["count"], ["number"], to=TensorProto.FLOAT),
    op("Add", ["x", "number"]),
)
_simple(
    "one thing for one row, another for many",
    op("Shape", ["x"], ["shape"]),
    op("Gather", ["shape", "zero"], ["rows"]),
    op("Equal", ["rows", "one"], ["alone"]),
    op("Neg", ["x"], ["turned"]),
    op("Where", ["alone", "x", "turned"]),
    zero=ints(0),
    one=ints(1),
)
_simple(
    "even and odd batches",
    op("Shape", ["x"], ["shape"]),
    op("Gather", ["shape", "zero"], ["rows"]),
    op("Mod", ["rows", "two"], ["rest"]),
    op("Cast", ["rest"], ["number"], to=TensorProto.FLOAT),
    op("Add", ["x", "number"]),
    zero=ints(0),
    two=ints(2),
)
_simple(
    "turned and normalised",
    op("Transpose", ["x"], ["t"], perm=[1, 0]),
    op("Softmax", ["t"], ["s"], axis=-1),
    op("Transpose", ["s"], perm=[1, 0]),
)
_simple(
    "rows that are kept",
    op("Slice", ["x", "zero", "one", "one"], ["column"]),
    op("Greater", ["column", "nought"], ["positive"]),
    op("Squeeze", ["positive", "one"], ["flags"]),
    op("Compress", ["x", "flags"], ["kept"], axis=0),
    op("ReduceSum", ["kept", "zero"], ["m"]),
    op("Sub", ["x", "m"]),
    zero=ints(0),
    one=ints(1),
    nought=np.float32(0),
)
_simple(
    "reversed in time",
    op("Shape", ["x"], ["shape"]),
    op("Slice", ["shape", "zero", "one"], ["rows"]),
    op("Expand", ["rows", "width"], ["lengths"]),
    op("ReverseSequence", ["x", "lengths"], batch_axis=1, time_axis=0),
    zero=ints(0),
    one=ints(1),
    width=ints(COLUMNS),
)
_simple(
    "an image as wide as there are rows",
    op("Shape", ["x"], ["shape"]),
    op("Slice", ["shape", "zero", "one"], ["rows"]),
    op("Cast", ["rows"], ["times"], to=TensorProto.FLOAT),
    op("Concat", ["ones", "times"], ["scales"], axis=0),
    op("Unsqueeze", ["x", "middle"], ["image"]),
    op("Resize", ["image", "", "scales"], ["wide"], mode="nearest"),
    op("ReduceSum", ["wide", "last"], ["sum"]),
    op("Squeeze", ["sum", "middle"], ["flat"]),
    op("Add", ["x", "flat"]),
    zero=ints(0),
    one=ints(1),
    ones=np.ones(3, dtype=np.float32),
    middle=ints(1, 2),
    last=ints(3),
)
_simple(
    "a product in small numbers",
    op("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero_point"]),
    op("MatMulInteger", ["q", "eye", "zero_point"], ["product"]),
    op("Cast", ["product"], ["real"], to=TensorProto.FLOAT),
    op("Mul", ["real", "scale"]),
    eye=np.eye(COLUMNS, dtype=np.uint8),
)
MORE["normalised along rows, of opset 23"] = lambda: later(
    23,
    op("Transpose", ["x"], ["t"], perm=[1, 0]),
    op("ReduceMean", ["t", "last"], ["m"]),
    op("Sub", ["t", "m"], ["s"]),
    op("Transpose", ["s"], perm=[1, 0]),
    last=ints(-1),
)
MORE["scales of blocks of rows, of opset 21"] = lambda: later(
    21,
    op("Shape", ["x"], ["shape"]),
    op("ReduceMax", ["x", "zero"], ["largest"]),
    op("Abs", ["largest"], ["scale"]),
    op("Div", ["x", "scale"], ["small"]),
    op("Round", ["small"], ["whole"]),
    op("Mul", ["whole", "scale"]),
    zero=ints(0),
)


def _nested() -> bytes:
    """A scan over rows, inside a branch, inside a function."""
    step = helper.make_graph(
        [op("Add", ["state", "row"], ["next"]), op("Identity", ["next"], ["kept"])],
        "step",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [COLUMNS]) for name in ("state", "row")],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [COLUMNS]) for name in ("next", "kept")],
    )

    def part(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
        last = helper.make_tensor_value_info(nodes[-1].output[-1], TensorProto.FLOAT, None)
        return helper.make_graph(list(nodes), name, [], [last])

    scan = op("Scan", ["start", "a"], ["end", "sums"], body=step, num_scan_inputs=1)
    nodes = [
        op("Constant", [], ["always"], value=given(value=np.bool_(True))[0]),
        op("Constant", [], ["start"], value=given(value=np.zeros(COLUMNS, dtype=np.float32))[0]),
        op("If", ["always"], ["b"], then_branch=part("yes", scan), else_branch=part("no", op("Neg", ["a"], ["other"]))),
    ]
    model = onnx.ModelProto.FromString(graph(op("Summed", ["x"], ["y"], domain="mine")))
    model.functions.append(helper.make_function("mine", "Summed", ["a"], ["b"], nodes, [helper.make_opsetid("", 17)]))
    model.opset_import.append(helper.make_opsetid("mine", 1))
    content: bytes = model.SerializeToString()
    return content


MORE["a scan in a branch in a function"] = _nested
