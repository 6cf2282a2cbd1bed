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
    body = helper.make_graph(
        [helper.make_node("Identity", ["before"], ["again"]), helper.make_node("Add", ["value", "value"], ["next"])],
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
    node = helper.make_node("Loop", ["turns", "go_on", "x"], ["y"], body=body)
    return file([node], ["rows", 4], ["rows", 4], [turns, go_on])


def file(nodes: list[onnx.NodeProto], x: list[str | int], y: list[str | int], given: list[onnx.TensorProto]) -> bytes:
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
