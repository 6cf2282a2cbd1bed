"""Graphs that keep rows apart, operator by operator, if one believes their file; onnxruntime does other things."""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.core.graphs.nodes import COLUMNS, Graph, given, graph, ints, op

DECEPTIVE: dict[str, Graph] = {}
_COUNTED = [op("Shape", ["x"], ["shape"]), op("Slice", ["shape", "zero", "one"], ["rows"])]
_CONSTANTS = {"zero": ints(0), "one": ints(1), "minus": ints(-1), "back": ints(-1, COLUMNS)}


def _mixed(last: str = "y") -> list[onnx.NodeProto]:
    """What mixes rows if n is not their number."""
    return [
        op("Concat", ["n", "minus"], ["target"], axis=0),
        op("Reshape", ["x", "target"], ["wide"]),
        op("ReduceMax", ["wide"], ["m"], axes=[1]),
        op("Sub", ["wide", "m"], ["less"]),
        op("Reshape", ["less", "back"], [last]),
    ]


def _taking(*nodes: onnx.NodeProto, **arrays: Any) -> bytes:
    """A graph in which n, which the nodes compute from the number of rows, is put in its place."""
    return graph(*_COUNTED, *nodes, *_mixed(), **_CONSTANTS, **arrays)


DECEPTIVE["a number of rows that overflows"] = lambda: _taking(
    op("Mul", ["rows", "large"], ["more"]), op("Div", ["more", "large"], ["n"]), large=ints(2**61)
)
DECEPTIVE["a number of rows that overflows in 32 bits"] = lambda: _taking(
    op("Cast", ["rows"], ["short"], to=TensorProto.INT32),
    op("Mul", ["short", "large"], ["more"]),
    op("Div", ["more", "large"], ["few"]),
    op("Cast", ["few"], ["n"], to=TensorProto.INT64),
    large=np.array([2**29], dtype=np.int32),
)
DECEPTIVE["a number of rows that overflows where it is cast"] = lambda: _taking(
    op("Mul", ["rows", "large"], ["more"]),
    op("Cast", ["more"], ["short"], to=TensorProto.INT32),
    op("Cast", ["short"], ["long"], to=TensorProto.INT64),
    op("Div", ["long", "large"], ["n"]),
    large=ints(2**30),
)
DECEPTIVE["a number of rows that is rounded where it is cast"] = lambda: _taking(
    op("Mul", ["rows", "large"], ["more"]),
    op("Cast", ["more"], ["real"], to=TensorProto.FLOAT),
    op("Cast", ["real"], ["long"], to=TensorProto.INT64),
    op("Div", ["long", "large"], ["n"]),
    large=ints(2**24 + 1),
)
DECEPTIVE["a number of rows that a division makes too large"] = lambda: _taking(
    op("Cast", ["rows"], ["real"], to=TensorProto.FLOAT),
    op("Div", ["real", "tiny"], ["more"]),
    op("Cast", ["more"], ["long"], to=TensorProto.INT64),
    op("Div", ["long", "large"], ["some"]),
    op("Abs", ["some"], ["n"]),
    tiny=np.array([2.0**-61], dtype=np.float32),
    large=ints(2**61),
)


def _deciding(*nodes: onnx.NodeProto, honest_if: bool, **arrays: Any) -> bytes:
    """A graph that keeps rows apart if c, which the nodes compute from constants, is what one would think."""
    plain, mixed = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("plain", "mixed"))
    centred = [op("ReduceMean", ["x"], ["mean"], axes=[0]), op("Sub", ["x", "mean"], ["mixed"])]
    honest = helper.make_graph([op("Identity", ["x"], ["plain"])], "honest", [], [plain])
    dishonest = helper.make_graph(centred, "dishonest", [], [mixed])
    one, other = (honest, dishonest) if honest_if else (dishonest, honest)
    return graph(*nodes, op("If", ["c"], then_branch=one, else_branch=other), **arrays)


def _real(number: float) -> Any:
    return np.array([number], dtype=np.float32)


DECEPTIVE["the least of a number and of none"] = lambda: _deciding(
    op("Min", ["a", "none"], ["least"]),
    op("Less", ["least", "b"], ["c"]),
    honest_if=True,
    a=_real(1),
    b=_real(2),
    none=_real(np.nan),
)
DECEPTIVE["the largest of two zeros"] = lambda: _deciding(
    op("Max", ["a", "b"], ["most"]),
    op("Div", ["unit", "most"], ["infinite"]),
    op("Greater", ["infinite", "a"], ["c"]),
    honest_if=True,
    a=_real(0),
    b=_real(-0.0),
    unit=_real(1),
)
DECEPTIVE["a zero that is added to a zero"] = lambda: _deciding(
    op("Neg", ["a"], ["b"]),
    op("Add", ["b", "a"], ["sum"]),
    op("Div", ["unit", "sum"], ["infinite"]),
    op("Greater", ["infinite", "a"], ["c"]),
    honest_if=True,
    a=_real(0),
    unit=_real(1),
)
DECEPTIVE["numbers of rows that are divided as floats"] = lambda: _deciding(
    op("Shape", ["x"], ["shape"]),
    op("Slice", ["shape", "zero", "one"], ["rows"]),
    op("Mul", ["rows", "five"], ["more"]),
    op("Cast", ["rows"], ["some"], to=TensorProto.FLOAT),
    op("Cast", ["more"], ["many"], to=TensorProto.FLOAT),
    op("Div", ["many", "some"], ["ratio"]),
    op("Div", ["ratio", "two"], ["half"]),
    op("Greater", ["half", "two"], ["c"]),
    honest_if=False,
    zero=ints(0),
    one=ints(1),
    five=ints(5),
    two=_real(2),
)


def _shapes(last: str = "y") -> list[onnx.NodeProto]:
    return [
        op("Relu", ["x"], ["a"]),
        op("Shape", ["a"], ["s"]),
        op("Slice", ["s", "zero", "one"], ["n"]),
        *_mixed(last),
    ]


_CLAIM = helper.make_tensor_value_info("a", TensorProto.FLOAT, [1, COLUMNS])
"""that there is a single row"""


def _claiming() -> bytes:
    model = onnx.ModelProto.FromString(graph(*_shapes(), **_CONSTANTS))
    model.graph.value_info.append(_CLAIM)
    content: bytes = model.SerializeToString()
    return content


def _claiming_in_a_branch() -> bytes:
    kept, other = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("kept", "other"))
    yes = helper.make_graph(_shapes("kept"), "yes", [], [kept], value_info=[_CLAIM])
    no = helper.make_graph([op("Neg", ["x"], ["other"])], "no", [], [other])
    chosen = op("If", ["always"], then_branch=yes, else_branch=no)
    return graph(chosen, always=np.bool_(True), **_CONSTANTS)


DECEPTIVE["a shape that is claimed"] = _claiming
DECEPTIVE["a shape that is claimed in a branch"] = _claiming_in_a_branch


def _defining(content: bytes, domain: str, name: str, inputs: list[str], *nodes: onnx.NodeProto) -> bytes:
    """The file with an operator of its own, which has the name of one that the runtime has."""
    model = onnx.ModelProto.FromString(content)
    opset = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function(domain, name, inputs, nodes[-1].output, list(nodes), opset))
    if domain == "com.microsoft":
        model.opset_import.append(helper.make_opsetid(domain, 1))
    written: bytes = model.SerializeToString()
    return written


def _counting(domain: str) -> bytes:
    """The runtime's own operator counts what is not zero in the whole batch; the file says that it is six."""
    content = graph(
        op("NonZero", ["x"], ["places"], domain=domain),
        op("Shape", ["places"], ["shape"]),
        op("Gather", ["shape", "one"], ["count"]),
        op("Cast", ["count"], ["number"], to=TensorProto.FLOAT),
        op("Add", ["x", "number"]),
        one=ints(1),
    )
    six = given(value=np.zeros((2, 6), dtype=np.int64))[0]
    return _defining(content, domain, "NonZero", ["a"], op("Constant", [], ["places"], value=six))


DECEPTIVE["an operator of ONNX that the file defines"] = lambda: _counting("")
DECEPTIVE["an operator of ONNX, by its other name"] = lambda: _counting("ai.onnx")


def _quantising() -> bytes:
    content = graph(
        op("DynamicQuantizeMatMul", ["x", "eye", "scale", "zero_point"], domain="com.microsoft"),
        eye=np.eye(COLUMNS, dtype=np.uint8),
        scale=np.ones(1, dtype=np.float32),
        zero_point=np.zeros(1, dtype=np.uint8),
    )
    inputs = ["a", "b", "c", "d"]
    return _defining(content, "com.microsoft", "DynamicQuantizeMatMul", inputs, op("Identity", ["a"], ["y"]))


DECEPTIVE["an operator of the runtime that the file defines"] = _quantising
