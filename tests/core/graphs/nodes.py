"""Graphs of a few nodes, from four columns to as many or others."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.core.models.onnx_files import file

COLUMNS = 4
Graph = Callable[[], bytes]


def op(operator: str, inputs: Sequence[str], outputs: Sequence[str] = ("y",), **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(operator, inputs, outputs, **attributes)


def given(**arrays: Any) -> list[onnx.TensorProto]:
    return [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]


def ints(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int64)


def graph(*nodes: onnx.NodeProto, columns: int | str | None = COLUMNS, **arrays: Any) -> bytes:
    """From x of shape (rows, 4) to y, of any shape if it has no number of columns."""
    y = None if columns is None else ["rows", columns]
    return file(list(nodes), ["rows", COLUMNS], y, given(**arrays))


def part(name: str, node: onnx.NodeProto) -> onnx.GraphProto:
    """A branch of one node."""
    return helper.make_graph([node], name, [], [helper.make_tensor_value_info(node.output[0], 1, None)])


def in_a_function(*nodes: onnx.NodeProto) -> bytes:
    """A graph of one node that calls a function, whose nodes take a and give b."""
    model = onnx.ModelProto.FromString(graph(op("Called", ["x"], ["y"], domain="mine")))
    opset = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function("mine", "Called", ["a"], ["b"], nodes, opset))
    model.opset_import.append(helper.make_opsetid("mine", 1))
    content: bytes = model.SerializeToString()
    return content
