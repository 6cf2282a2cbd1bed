"""Graphs with chance in them: the same row has another answer each time."""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from tests.core.graphs.nodes import Graph, graph, in_a_function, op, part

RANDOM: dict[str, Graph] = {}


def _simple(name: str, *nodes: onnx.NodeProto, **arrays: Any) -> None:
    RANDOM[name] = lambda: graph(*nodes, **arrays)


_simple("noise", op("RandomNormalLike", ["x"], ["n"]), op("Add", ["x", "n"]))
_simple("uniform noise", op("RandomUniformLike", ["x"], ["n"]), op("Add", ["x", "n"]))
_simple("noise that is not of x", op("RandomNormal", [], ["n"], shape=[1, 4]), op("Add", ["x", "n"]))
_simple("coins", op("Sigmoid", ["x"], ["p"]), op("Bernoulli", ["p"], ["y"]))
_simple("draws", op("Multinomial", ["x"], ["d"], sample_size=4), op("Cast", ["d"], to=TensorProto.FLOAT))
_simple(
    "dropout in training",
    op("Dropout", ["x", "ratio", "training"]),
    ratio=np.float32(0.5),
    training=np.bool_(True),
)
_simple(
    "noise in an unused branch",
    op(
        "If",
        ["never"],
        then_branch=part("noisy", op("RandomNormalLike", ["x"], ["a"])),
        else_branch=part("plain", op("Neg", ["x"], ["b"])),
    ),
    never=np.bool_(False),
)
RANDOM["noise in a function"] = lambda: in_a_function(
    op("RandomNormalLike", ["a"], ["n"]), op("Add", ["a", "n"], ["b"])
)
