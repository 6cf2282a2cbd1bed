"""Graphs with chance in them are refused: what they say of a row is not a function of the row."""

from collections.abc import Iterable, Mapping

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper

from certiset.core.errors import ModelError
from certiset.core.graphs.row_proof.graph_file import subgraphs

_RANDOM = [
    "Bernoulli",
    "BiasDropout",
    "BitmaskBiasDropout",
    "BitmaskDropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Sampling",
]
_ALWAYS_INFERENCE = range(7, 12)
"""versions in which Dropout knows no training"""

Constants = Mapping[str, TensorProto]


def refuse_chance(model: ModelProto) -> None:
    versions = {entry.domain: entry.version for entry in model.opset_import}
    _check(model.graph.node, {tensor.name: tensor for tensor in model.graph.initializer}, _version(versions))
    for function in model.functions:
        own = {entry.domain: entry.version for entry in function.opset_import}
        _check(function.node, {}, _version(own))


def _version(versions: Mapping[str, int]) -> int:
    return versions.get("", versions.get("ai.onnx", 0))


def _check(nodes: Iterable[NodeProto], outside: Constants, version: int) -> None:
    constants = dict(outside)
    for node in nodes:
        if node.op_type == "Constant" and len(node.output) == 1:
            for attribute in node.attribute:
                if attribute.name == "value":
                    constants[node.output[0]] = attribute.t
    for node in nodes:
        if node.op_type in _RANDOM:
            raise ModelError(
                f"The ONNX model draws random numbers ({node.op_type}), so that the same input would get another set "
                "each time. Export it without."
            )
        if node.op_type == "Dropout" and _drops(node, constants, version):
            raise ModelError(
                "The ONNX model has dropout in training mode, so that the same input would get another set each time. "
                "Export it in evaluation mode."
            )
        for graph in subgraphs(node):
            _check(graph.node, constants | {tensor.name: tensor for tensor in graph.initializer}, version)


def _drops(node: NodeProto, constants: Constants, version: int) -> bool:
    """Whether it may be in training mode: what is not a constant may be anything."""
    if version < _ALWAYS_INFERENCE.start:
        return not any(attribute.name == "is_test" and attribute.i == 1 for attribute in node.attribute)
    if version in _ALWAYS_INFERENCE or len(node.input) < 3 or not node.input[2]:
        return False
    tensor = constants.get(node.input[2])
    try:
        return tensor is None or bool(np.any(numpy_helper.to_array(tensor)))
    except (ValueError, TypeError):
        return True
