"""Small graphs of random operators, honest and dishonest ones, many of which do not even run."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from tests.core.graphs.nodes import graph, ints, op

Choice = tuple[int, int, int, int]
"""which operator, its two inputs among the latest values, and a parameter"""
Nodes = list[onnx.NodeProto]
Step = Callable[[str, str, str, int], tuple[Nodes, dict[str, Any]]]

_GENERATOR = np.random.default_rng(5)
WEIGHTS = _GENERATOR.standard_normal((4, 4)).astype(np.float32) / 2
_SHAPES = [(-1, 4), (0, -1), (-1, 2, 2), (-1, 2), (2, -1), (1, -1), (-1, 8), (4, -1), (0, 2, 2), (-1, 1, 4), (0, 0, 1)]
_CONSTANTS = [np.ones((1, 4)), np.arange(4.0), np.arange(6.0)[:, None], np.ones((6, 4)), np.ones((2, 1, 1)), np.ones(1)]
_AXES = (0, 1, 2, -1)


def _plain(operator: str, *, inputs: int = 1) -> Step:
    return lambda a, b, y, n: ([op(operator, [a, b][:inputs], [y])], {})


def _along(operator: str, **attributes: Any) -> Step:
    return lambda a, b, y, n: ([op(operator, [a], [y], axis=_AXES[n % 4], **attributes)], {})


def _reduced(operator: str) -> Step:
    def step(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
        axes = {"axes": [_AXES[n % 4]]} if n % 5 else {}
        return [op(operator, [a], [y], keepdims=n // 20 % 2, **axes)], {}

    return step


def _with(operator: str, value: Callable[[int], Any], **attributes: Any) -> Step:
    """A second input that is a constant."""
    return lambda a, b, y, n: ([op(operator, [a, f"c_{y}"], [y], **attributes)], {f"c_{y}": value(n)})


def _transposed(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    order = [[1, 0], [0, 2, 1], [1, 0, 2], [2, 0, 1], [1, 2, 0]][n % 5]
    return [op("Transpose", [a], [y], perm=order)], {}


def _joined(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    return [op("Concat", [a, b], [y], axis=_AXES[n % 4])], {}


def _picked(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    picks = {f"c_{y}": [ints(0), ints(1, 0), np.int64(1)][n // 4 % 3]}
    return [op("Gather", [a, f"c_{y}"], [y], axis=_AXES[n % 4])], picks


def _cut(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    start, end, step = [(0, 2, 1), (1, 2**62, 1), (-1, -(2**62), -1), (0, 2**62, 1), (0, -1, 1)][n // 4 % 5]
    names = [f"{part}_{y}" for part in ("start", "end", "axis", "step")]
    arrays = [ints(start), ints(end), ints(_AXES[n % 4]), ints(step)]
    return [op("Slice", [a, *names], [y])], dict(zip(names, arrays, strict=True))


def _shaped_like(operator: str) -> Step:
    return lambda a, b, y, n: ([op("Shape", [b], [f"s_{y}"]), op(operator, [a, f"s_{y}"], [y])], {})


def _counted(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    nodes = [
        op("Shape", [b], [f"s_{y}"]),
        op("Gather", [f"s_{y}", f"c_{y}"], [f"n_{y}"]),
        op("Cast", [f"n_{y}"], [f"f_{y}"], to=TensorProto.FLOAT),
        op("Div", [a, f"f_{y}"], [y]),
    ]
    return nodes, {f"c_{y}": np.int64(n % 2)}


def _rows_in_front(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    """A shape of the number of rows and constants, as exporters write it."""
    nodes = [
        op("Shape", [b], [f"s_{y}"]),
        op("Gather", [f"s_{y}", f"c_{y}"], [f"n_{y}"]),
        op("Concat", [f"n_{y}", f"r_{y}"], [f"t_{y}"], axis=0),
        op("Reshape", [a, f"t_{y}"], [y]),
    ]
    return nodes, {f"c_{y}": ints(n % 2), f"r_{y}": ints(*[(4,), (2, 2), (-1,), (-1, 2), (1, 2, 2)][n // 2 % 5])}


def _ranked(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    return [op("TopK", [a, f"c_{y}"], [y, f"i_{y}"], axis=_AXES[n % 4])], {f"c_{y}": ints(1 + n // 4 % 2)}


def _largest(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    nodes = [op("ArgMax", [a], [f"i_{y}"], axis=_AXES[n % 4], keepdims=n // 4 % 2)]
    return [*nodes, op("Cast", [f"i_{y}"], [y], to=TensorProto.FLOAT)], {}


def _einsum(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    """Of inputs whose rank fits: with others onnxruntime ends the process."""
    equation = ["ij,ij->ij", "ij,kj->ik", "ij,ij->i", "ij,ij->ji", "bij,bkj->bik", "ij,jk->ik"][n % 6]
    shape = ints(-1, 2, 2) if equation.startswith("b") else ints(-1, 4)
    nodes = [op("Reshape", [value, f"c_{y}"], [f"{name}_{y}"]) for value, name in ((a, "a"), (b, "b"))]
    return [*nodes, op("Einsum", [f"a_{y}", f"b_{y}"], [y], equation=equation)], {f"c_{y}": shape}


def _split(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    return [op("Split", [a], [f"h_{y}", y], axis=_AXES[n % 4])], {}


def _padded(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    pads = [ints(0, 1, 0, 0), ints(1, 0, 0, 0), ints(0, 0, 1, 0), ints(0, 0, 1, 0, 0, 0), ints(0, 0, 0, 1)][n % 5]
    return [op("Pad", [a, f"c_{y}"], [y])], {f"c_{y}": pads}


def _table(a: str, b: str, y: str, n: int) -> tuple[Nodes, dict[str, Any]]:
    nodes = [
        op("ArgMax", [a], [f"i_{y}"], axis=_AXES[n % 4], keepdims=0),
        op("Gather", [f"w_{y}", f"i_{y}"], [y], axis=n // 4 % 2),
    ]
    return nodes, {f"w_{y}": np.tile(WEIGHTS, (2, 2))}


def _constant(n: int) -> Any:
    return _CONSTANTS[n % len(_CONSTANTS)].astype(np.float32)


STEPS: list[Step] = [
    _plain("Tanh"),
    _plain("Add", inputs=2),
    _plain("Mul", inputs=2),
    _plain("Sub", inputs=2),
    _plain("MatMul", inputs=2),
    _plain("Max", inputs=2),
    _with("MatMul", lambda n: WEIGHTS),
    _with("Gemm", lambda n: WEIGHTS, transB=1),
    _with("Add", _constant),
    _with("Mul", _constant),
    _with("Reshape", lambda n: ints(*_SHAPES[n % len(_SHAPES)])),
    _with("Unsqueeze", lambda n: ints(_AXES[n % 4])),
    _with("Squeeze", lambda n: ints(_AXES[n % 4])),
    _with("CumSum", lambda n: np.int64(_AXES[n % 4])),
    _with("Tile", lambda n: [ints(1, 2), ints(2, 1), ints(1, 1, 2), ints(1, 1)][n % 4]),
    _plain("Squeeze"),
    _along("Softmax"),
    _along("LpNormalization"),
    _along("Flatten"),
    _reduced("ReduceMax"),
    _reduced("ReduceMean"),
    _reduced("ReduceL2"),
    _transposed,
    _joined,
    _picked,
    _cut,
    _shaped_like("Reshape"),
    _shaped_like("Expand"),
    _counted,
    _rows_in_front,
    _ranked,
    _largest,
    _einsum,
    _split,
    _padded,
    _table,
]


def random_graph(choices: Sequence[Choice]) -> bytes:
    """Values are computed from the latest three; the last one is the output."""
    values, nodes, arrays = ["x"], list[onnx.NodeProto](), dict[str, Any]()
    for number, (which, first, second, parameter) in enumerate(choices):
        output = "y" if number == len(choices) - 1 else f"v{number}"
        recent = values[-3:]
        made, more = STEPS[which % len(STEPS)](
            recent[-1 - first % len(recent)], recent[-1 - second % len(recent)], output, parameter
        )
        nodes, arrays = nodes + made, arrays | more
        values.append(output)
    nodes = _needed(nodes)
    used = {name for node in nodes for name in node.input}
    return graph(*nodes, columns=None, **{name: array for name, array in arrays.items() if name in used})


def _needed(nodes: Nodes) -> Nodes:
    """Without what the output is not computed from."""
    wanted, kept = {"y"}, Nodes()
    for node in reversed(nodes):
        if wanted & set(node.output):
            wanted |= set(node.input)
            kept.insert(0, node)
    return kept
