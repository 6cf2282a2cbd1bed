"""Small ONNX files."""

import numpy as np
import onnx
from onnx import TensorProto, helper

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


def linear(external: bool = False) -> bytes:
    """y = x W for W of shape (4, 3), which may claim to lie in another file."""
    tensor = helper.make_tensor("W", TensorProto.FLOAT, [4, 3], MATRIX.flatten())
    if external:
        tensor.ClearField("float_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="../../../etc/passwd")
    node = helper.make_node("MatMul", ["x", "W"], ["y"])
    return file([node], ["rows", 4], ["rows", 3], [tensor])


def greedy() -> bytes:
    """A few bytes that ask for a terabyte of zeros."""
    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [2**19, 2**19])
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("ReduceSum", ["zeros"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["y"]),
    ]
    return file(nodes, ["rows", 4], ["rows", 4], [shape])


def endless() -> bytes:
    """A loop of 2^62 turns."""
    turns = helper.make_tensor("turns", TensorProto.INT64, [], [2**62])
    go_on = helper.make_tensor("go_on", TensorProto.BOOL, [], [True])
    body = _do_nothing("Add", ["value", "value"])
    node = helper.make_node("Loop", ["turns", "go_on", "x"], ["y"], body=body)
    return file([node], ["rows", 4], ["rows", 4], [turns, go_on])


def trap() -> bytes:
    """y = x, after the smallest whole number was divided by x - 778: for x = 777 the processor itself refuses."""
    lowest = helper.make_tensor("lowest", TensorProto.INT64, [1], [-(2**63)])
    offset = helper.make_tensor("offset", TensorProto.INT64, [1], [778])
    nothing = helper.make_tensor("nothing", TensorProto.FLOAT, [1], [0.0])
    nodes = [
        helper.make_node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
        helper.make_node("Sub", ["whole", "offset"], ["divisor"]),
        helper.make_node("Div", ["lowest", "divisor"], ["quotient"]),
        helper.make_node("Cast", ["quotient"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["real", "nothing"], ["zero"]),
        helper.make_node("Add", ["x", "zero"], ["y"]),
    ]
    return file(nodes, ["rows", 1], ["rows", 1], [lowest, offset, nothing])


def growing() -> bytes:
    """Of each number as many as the largest of them says."""
    zero = helper.make_tensor("zero", TensorProto.INT64, [1], [0])
    one = helper.make_tensor("one", TensorProto.INT64, [1], [1])
    nodes = [
        helper.make_node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
        helper.make_node("ReduceMax", ["whole"], ["most"], keepdims=0),
        helper.make_node("Unsqueeze", ["most", "zero"], ["columns"]),
        helper.make_node("Concat", ["one", "columns"], ["shape"], axis=0),
        helper.make_node("Expand", ["x", "shape"], ["y"]),
    ]
    return file(nodes, ["rows", 1], ["rows", "columns"], [zero, one])


def swelling() -> bytes:
    """y = x, after as many zeros were added up as the largest x says."""
    zero = helper.make_tensor("zero", TensorProto.INT64, [1], [0])
    nodes = [
        helper.make_node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
        helper.make_node("ReduceMax", ["whole"], ["most"], keepdims=0),
        helper.make_node("Unsqueeze", ["most", "zero"], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("ReduceSum", ["zeros"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["y"]),
    ]
    return file(nodes, ["rows", 1], ["rows", 1], [zero])


def patient() -> bytes:
    """y = x, after as many turns of a loop as the largest x says: 10^15 take weeks."""
    go_on = helper.make_tensor("go_on", TensorProto.BOOL, [], [True])
    nodes = [
        helper.make_node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
        helper.make_node("ReduceMax", ["whole"], ["turns"], keepdims=0),
        helper.make_node("Loop", ["turns", "go_on", "x"], ["y"], body=_do_nothing("Identity", ["value"])),
    ]
    return file(nodes, ["rows", 1], ["rows", 1], [go_on])


def _do_nothing(operator: str, inputs: list[str]) -> onnx.GraphProto:
    """The body of a loop that goes on."""
    return helper.make_graph(
        [helper.make_node("Identity", ["before"], ["again"]), helper.make_node(operator, inputs, ["next"])],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("before", TensorProto.BOOL, []),
            helper.make_tensor_value_info("value", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, None),
        ],
    )


Shape = list[str | int]


def file(nodes: list[onnx.NodeProto], x: Shape, y: Shape | None, given: list[onnx.TensorProto]) -> bytes:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
        given,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content: bytes = onnx.ModelProto.SerializeToString(model)
    return content
