"""An ONNX file, read for what it says about its operators: large weights are dropped at once and never decoded."""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
    TypeProto,
    numpy_helper,
)

from certiset.core.errors import ModelError
from certiset.core.graphs.row_proof.values import MOST_ENTRIES, NotProvedError, Value, contents, known

MOST_OPERATORS = 200_000
_DEEPEST = 32
_FOLLOWED = (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL, TensorProto.DOUBLE)
_DATA = ("float_data", "int32_data", "string_data", "int64_data", "raw_data", "double_data", "uint64_data")
_LISTS = ("floats", "ints", "strings")


def read_model(content: bytes | memoryview) -> ModelProto:
    """The file as it is; `ModelError` if it is none."""
    model = ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError:
        raise ModelError("The ONNX model cannot be loaded: it is not an ONNX file.") from None
    return model


def without_claims(model: ModelProto) -> bytes:
    """The file to be run: it says nothing of shapes but how long the input's axes are, which is checked at each call.

    onnxruntime believes what a file says of the shapes inside, and computes with them instead of the real ones: a graph
    that calls its batch a single row would have the rows of all batches mixed by operators that keep rows apart.
    """
    for place, graph in enumerate(_graphs(model)):
        graph.ClearField("value_info")
        for entry in graph.input:
            (_forget_shape if place else _forget_names)(entry.type)
        for entry in graph.output:
            _forget_shape(entry.type)
    for function in model.functions:
        function.ClearField("value_info")
    content: bytes = model.SerializeToString()
    return content


def _forget_shape(kind: TypeProto) -> None:
    """All but the number of axes, which onnxruntime asks for where a loop begins."""
    while kind.HasField("sequence_type") or kind.HasField("optional_type"):
        kind = kind.sequence_type.elem_type if kind.HasField("sequence_type") else kind.optional_type.elem_type
    for name in ("tensor_type", "sparse_tensor_type"):
        for side in getattr(kind, name).shape.dim if kind.HasField(name) else ():
            side.Clear()


def _forget_names(kind: TypeProto) -> None:
    """Axes with the same name would be taken to be equally long."""
    for side in kind.tensor_type.shape.dim if kind.HasField("tensor_type") else ():
        side.ClearField("dim_param")


def outline(model: ModelProto) -> ModelProto:
    """The model without its large weights, which are taken out of it; `ModelError` if it is too large to be judged."""
    graphs = list(_graphs(model))
    for graph in graphs:
        for tensor in graph.initializer:
            _strip_tensor(tensor)
        for sparse in graph.sparse_initializer:
            _strip_sparse(sparse)
    bodies = [*(graph.node for graph in graphs), *(function.node for function in model.functions)]
    if sum(map(len, bodies)) > MOST_OPERATORS:
        raise ModelError(f"The ONNX model has more than {MOST_OPERATORS:,} operators.")
    for nodes in bodies:
        for node in nodes:
            _strip_node(node)
    return model


def _graphs(model: ModelProto) -> Iterator[GraphProto]:
    yield from _with_subgraphs(model.graph)
    for function in model.functions:
        for node in function.node:
            for inner in subgraphs(node):
                yield from _with_subgraphs(inner, 1)


def _with_subgraphs(graph: GraphProto, depth: int = 0) -> Iterator[GraphProto]:
    if depth > _DEEPEST:
        raise ModelError(f"The ONNX model has graphs inside graphs, more than {_DEEPEST} deep.")
    yield graph
    for node in graph.node:
        for inner in subgraphs(node):
            yield from _with_subgraphs(inner, depth + 1)


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _strip_node(node: NodeProto) -> None:
    for attribute in node.attribute:
        if attribute.HasField("t"):
            _strip_tensor(attribute.t)
        if attribute.HasField("sparse_tensor"):
            _strip_sparse(attribute.sparse_tensor)
        for name in ("tensors", "sparse_tensors"):
            attribute.ClearField(name)
        if any(len(getattr(attribute, name)) > MOST_ENTRIES for name in _LISTS):
            for name in _LISTS:
                attribute.ClearField(name)
            attribute.type = AttributeProto.UNDEFINED


def _strip_tensor(tensor: TensorProto) -> None:
    if tensor.data_type not in _FOLLOWED or prod(tensor.dims) > MOST_ENTRIES:
        for name in _DATA:
            tensor.ClearField(name)


def _strip_sparse(sparse: SparseTensorProto) -> None:
    for tensor in (sparse.values, sparse.indices):
        for name in _DATA:
            tensor.ClearField(name)


_FIELDS = {
    AttributeProto.INT: "i",
    AttributeProto.FLOAT: "f",
    AttributeProto.STRING: "s",
    AttributeProto.GRAPH: "g",
    AttributeProto.INTS: "ints",
    AttributeProto.FLOATS: "floats",
    AttributeProto.STRINGS: "strings",
}


def decoded(attribute: AttributeProto) -> Any:
    """The attribute as Python has it; texts are bytes."""
    if attribute.type == AttributeProto.TENSOR:
        return numpy_helper.to_array(attribute.t)
    if attribute.type not in _FIELDS:
        raise NotProvedError("has an attribute that is not followed")
    found = getattr(attribute, _FIELDS[attribute.type])
    return list(found) if _FIELDS[attribute.type] in _LISTS else found


def constant(tensor: TensorProto) -> Value:
    """A weight: its shape, and its content if that is small."""
    followed = tensor.data_type in _FOLLOWED and prod(tensor.dims) <= MOST_ENTRIES
    if not followed or tensor.data_location == TensorProto.EXTERNAL:
        return Value(tuple(tensor.dims))
    try:
        return known(contents(numpy_helper.to_array(tensor)))
    except (ValueError, TypeError):
        return Value(tuple(tensor.dims))


def constant_of(attributes: dict[str, AttributeProto]) -> Value:
    """What the operator Constant gives."""
    if len(attributes) != 1:
        raise NotProvedError("has no value, or several")
    (name, attribute), *_ = attributes.items()
    if name == "value":
        return constant(attribute.t)
    if name == "sparse_value":
        return Value(tuple(attribute.sparse_tensor.dims))
    kind = {"value_int": np.int64, "value_ints": np.int64, "value_float": np.float32, "value_floats": np.float32}
    if name not in kind:
        raise NotProvedError("has a value that is not followed")
    return known(contents(np.asarray(decoded(attribute), dtype=kind[name])))
