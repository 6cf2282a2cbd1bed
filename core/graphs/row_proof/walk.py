"""The walk through a graph, from its input to its last output: where are the rows in every value?

Whatever is not known, or known to mix rows, gives a value of which nothing is known, and so does everything that is
computed from it. The graph is proved if its last output still has the rows in their place. Nothing that the file claims
of shapes is used: they are computed from the shape of a row.
"""

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import TypeAlias

from onnx import IR_VERSION, AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

from certiset.core.graphs.row_proof import rules
from certiset.core.graphs.row_proof.call import CLASSICAL, RULES, Call
from certiset.core.graphs.row_proof.control_flow import branch, loop
from certiset.core.graphs.row_proof.graph_file import MOST_OPERATORS, constant, constant_of
from certiset.core.graphs.row_proof.values import NotProvedError, Rows, Unproved, Value, of_rows
from certiset.core.graphs.row_proof.verdict import PROVED, RowProof

__all__ = ["prove", "rules"]

_DEEPEST = 24
_VERSIONS = {"": range(9, 27), CLASSICAL: range(1, 6)}
"""of the operators, for which the rules were written"""
_LONGEST_NAME = 40
_TAKEN = ("", "ai.onnx", "com.microsoft", "com.ms", "com.xilinx", "org.pytorch")
"""beginnings of the names of families that runtimes have operators in"""

Known: TypeAlias = "Value | Unproved"
Scope: TypeAlias = "MutableMapping[str, Known]"


def prove(model: ModelProto, row_shape: Sequence[int]) -> RowProof:
    """For inputs of shape (N, *row_shape), whatever N is."""
    try:
        found = _Walk(model).last_output(row_shape)
    except NotProvedError as error:
        return RowProof(False, str(error))
    if isinstance(found, Unproved):
        return RowProof(False, found.reason)
    if found.rows != Rows(0):
        return RowProof(False, "the last output does not have one entry for each row")
    return PROVED


class _Walk:
    def __init__(self, model: ModelProto) -> None:
        self._model = model
        self._versions = _versions(model.opset_import)
        self._functions = {(_domain(entry.domain), entry.name): entry for entry in model.functions}
        self._left = MOST_OPERATORS
        if model.ir_version > IR_VERSION:
            raise NotProvedError("the file is of a newer version than is known")
        if len(self._functions) != len(model.functions) or any(_is_taken(domain) for domain, _ in self._functions):
            # A runtime that has an operator of that name runs its own, and not what the file says.
            raise NotProvedError("the file defines an operator twice, or in a family that is not its own")

    def last_output(self, row_shape: Sequence[int]) -> Known:
        graph = self._model.graph
        weights = {tensor.name for tensor in graph.initializer}
        weights |= {tensor.values.name for tensor in graph.sparse_initializer}
        inputs = [entry.name for entry in graph.input if entry.name not in weights]
        if not inputs or not graph.output:
            raise NotProvedError("the graph has no input, or no output")
        scope: Scope = {inputs[0]: of_rows([None, *row_shape], Rows(0))}
        if len(inputs) > 1:
            # One input for each column: all of them have the same rows.
            axes = {entry.name: len(entry.type.tensor_type.shape.dim) for entry in graph.input}
            scope = {name: of_rows([None, *[1] * (axes[name] - 1)], Rows(0)) for name in inputs}
        self._graph(graph, scope, _Place(self._versions, {}, 0))
        return _find(scope, graph.output[-1].name)

    def _graph(self, graph: GraphProto, scope: Scope, place: "_Place") -> None:
        for tensor in graph.initializer:
            _define(scope, tensor.name, constant(tensor))
        for sparse in graph.sparse_initializer:
            _define(scope, sparse.values.name, Value(tuple(sparse.dims)))
        self._nodes(graph.node, scope, place)

    def _nodes(self, nodes: Iterable[NodeProto], scope: Scope, place: "_Place") -> None:
        if place.depth > _DEEPEST:
            raise NotProvedError("graphs inside graphs go too deep")
        for node in nodes:
            self._left -= 1
            if self._left < 0:
                raise NotProvedError("the graph has too many operators")
            outputs = self._outputs(node, scope, place)
            for number, name in enumerate(node.output):
                if name:
                    lost = Unproved(f"{_name(node)} has an output that is not followed")
                    _define(scope, name, outputs[number] if number < len(outputs) else lost)

    def _outputs(self, node: NodeProto, scope: Scope, place: "_Place") -> Sequence[Known]:
        try:
            inputs = [_find(scope, name) if name else None for name in node.input]
            lost = next((value for value in inputs if isinstance(value, Unproved)), None)
            if lost is not None:
                return [lost] * len(node.output)
            return self._computed(node, [value for value in inputs if not isinstance(value, Unproved)], scope, place)
        except _GivenUpError:
            raise
        except NotProvedError as error:
            return [Unproved(f"{_name(node)} {error}")] * len(node.output)
        except Exception:
            # The file is a stranger's: an attribute may be of any type, a list of any length.
            return [Unproved(f"{_name(node)} could not be followed")] * len(node.output)

    def _computed(
        self, node: NodeProto, inputs: Sequence[Value | None], scope: Scope, place: "_Place"
    ) -> Sequence[Known]:
        key = (_domain(node.domain), node.op_type)
        attributes = place.attributes(node)
        if key in self._functions:
            return self._function(self._functions[key], inputs, attributes, place)
        if place.versions.get(key[0]) not in _VERSIONS.get(key[0], ()):
            raise NotProvedError("is of a version or a family that is not known")
        if key == ("", "Constant"):
            return [constant_of(attributes)]
        if key in (("", "If"), ("", "Loop")):

            def body(name: str, given: Sequence[Value]) -> list[Known]:
                return self._subgraph(attributes[name].g, given, scope, place)

            return branch(inputs, body) if node.op_type == "If" else loop(inputs, body)
        if key not in RULES:
            raise NotProvedError("is not known to treat rows one by one")
        found = RULES[key](Call(node.op_type, place.versions[key[0]], attributes, inputs, len(node.output)))
        return [found] if isinstance(found, Value) else found

    def _subgraph(self, graph: GraphProto, given: Sequence[Value], outside: Scope, place: "_Place") -> list[Known]:
        scope: Scope = ChainMap({}, *_maps(outside))
        if len(graph.input) != len(given):
            raise NotProvedError("has a body that does not fit")
        for entry, value in zip(graph.input, given, strict=True):
            _define(scope, entry.name, value)
        self._graph(graph, scope, place.deeper())
        return [_find(scope, entry.name) for entry in graph.output]

    def _function(
        self,
        function: FunctionProto,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, AttributeProto],
        place: "_Place",
    ) -> list[Known]:
        versions = _versions(function.opset_import)
        if any(place.versions.get(domain, version) != version for domain, version in versions.items()):
            raise NotProvedError("is of another version inside a function")
        scope: Scope = {}
        if len(inputs) > len(function.input) or None in inputs:
            raise NotProvedError("is a function that is called in a way that is not followed")
        for name, value in zip(function.input, inputs, strict=False):
            _define(scope, name, value or Unproved("a function lacks an input"))
        bound = {entry.name: entry for entry in function.attribute_proto} | dict(attributes)
        self._nodes(function.node, scope, _Place(versions, bound, place.depth + 1))
        return [_find(scope, name) for name in function.output]


class _GivenUpError(NotProvedError):
    """Of the graph as a whole."""


class _Place:
    """Which versions hold where an operator stands, and what the attributes of the function around it are."""

    def __init__(self, versions: Mapping[str, int], bound: Mapping[str, AttributeProto], depth: int) -> None:
        self.versions, self._bound, self.depth = versions, bound, depth

    def deeper(self) -> "_Place":
        return _Place(self.versions, self._bound, self.depth + 1)

    def attributes(self, node: NodeProto) -> dict[str, AttributeProto]:
        found: dict[str, AttributeProto] = {}
        for attribute in node.attribute:
            if attribute.name in found:
                raise NotProvedError("has an attribute twice")
            if not attribute.ref_attr_name:
                found[attribute.name] = attribute
            elif attribute.ref_attr_name in self._bound:
                found[attribute.name] = self._bound[attribute.ref_attr_name]
        return found


def _maps(scope: Scope) -> Sequence[Scope]:
    return scope.maps if isinstance(scope, ChainMap) else [scope]


def _versions(imports: Iterable[object]) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in imports:
        domain, version = _domain(entry.domain), entry.version  # type: ignore[attr-defined]
        if found.get(domain, version) != version:
            raise NotProvedError("the file names two versions of the same operators")
        found[domain] = version
    return found


def _is_taken(domain: str) -> bool:
    return any(domain == taken or (taken and domain.startswith(f"{taken}.")) for taken in _TAKEN)


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _find(scope: Scope, name: str) -> Known:
    return scope.get(name) or Unproved("a value is used before it is computed")


def _define(scope: Scope, name: str, value: Known) -> None:
    if name in scope:
        raise _GivenUpError("the graph gives one name to two values")
    scope[name] = value


def _name(node: NodeProto) -> str:
    """Of the operator; a stranger's own name for one only if it is a plain word."""
    name = node.op_type
    return name if name.isidentifier() and name.isascii() and len(name) <= _LONGEST_NAME else "an operator"
