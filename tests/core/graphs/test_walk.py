"""What a file says of itself, its functions, its branches and its outputs, as the walk reads them."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from certiset.core.errors import ModelError
from certiset.core.graphs import GraphSession, RowProof
from tests.core.graphs.nodes import COLUMNS, given, graph, ints, op, part
from tests.core.graphs.row_proofs import proof_of


def test_shapes_that_the_file_claims_are_not_believed() -> None:
    model = onnx.ModelProto.FromString(graph(op("Unknown", ["x"], ["u"], domain="mine"), op("Relu", ["u"], ["y"])))
    model.graph.value_info.append(helper.make_tensor_value_info("u", TensorProto.FLOAT, ["rows", COLUMNS]))
    assert not proof_of(model.SerializeToString()).proved


def test_a_function_cannot_take_the_name_of_an_operator() -> None:
    model = onnx.ModelProto.FromString(graph(op("Relu", ["x"], ["y"])))
    nodes = [op("ReduceMax", ["a"], ["m"], axes=[0]), op("Sub", ["a", "m"], ["b"])]
    model.functions.append(helper.make_function("", "Relu", ["a"], ["b"], nodes, [helper.make_opsetid("", 17)]))
    assert not proof_of(model.SerializeToString()).proved


def test_functions_are_walked_with_the_attributes_of_their_call() -> None:
    def called(axis: int) -> bytes:
        model = onnx.ModelProto.FromString(graph(op("Soft", ["x"], ["y"], domain="mine", along=axis)))
        inner = op("Softmax", ["a"], ["b"])
        inner.attribute.append(onnx.AttributeProto(name="axis", type=onnx.AttributeProto.INT, ref_attr_name="along"))
        model.functions.append(
            helper.make_function("mine", "Soft", ["a"], ["b"], [inner], [helper.make_opsetid("", 17)], ["along"])
        )
        model.opset_import.append(helper.make_opsetid("mine", 1))
        content: bytes = model.SerializeToString()
        return content

    assert proof_of(called(1)).proved
    assert not proof_of(called(0)).proved


def test_loops_and_branches_on_constants_are_walked() -> None:
    def either(other: onnx.NodeProto) -> bytes:
        branches = {"then_branch": part("one", op("Neg", ["x"], ["a"])), "else_branch": part("other", other)}
        return graph(op("If", ["c"], ["y"], **branches), c=np.bool_(True))

    assert proof_of(either(op("Relu", ["x"], ["b"]))).proved
    # What is never reached proves nothing, and hurts nobody.
    assert proof_of(either(op("ReduceMax", ["x"], ["b"], axes=[0]))).proved


def test_the_last_output_alone_counts() -> None:
    model = onnx.ModelProto.FromString(graph(op("ReduceMax", ["x"], ["unused"], axes=[0]), op("Relu", ["x"], ["y"])))
    model.graph.output.insert(0, helper.make_tensor_value_info("unused", TensorProto.FLOAT, None))
    assert proof_of(model.SerializeToString()).proved


def test_a_batch_of_one_row_is_all_that_some_graphs_take() -> None:
    for rows, fits in ((1, True), (8, False)):
        model = onnx.ModelProto.FromString(graph(op("Relu", ["x"])))
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = rows
        if not fits:
            with pytest.raises(ModelError, match="takes exactly 8 rows at a time"):
                GraphSession(model.SerializeToString())
            continue
        session = GraphSession(model.SerializeToString())
        assert np.array_equal(session(np.eye(3, COLUMNS, dtype=np.float32)), np.eye(3, COLUMNS))
        assert session.row_proof == RowProof(False, "the graph takes one row at a time")


def test_another_format_than_the_one_that_is_judged_is_not_run() -> None:
    with pytest.raises(ModelError, match="The ONNX model cannot be loaded"):
        GraphSession(b"\x20\x00\x00\x00ORTM" + bytes(64))


def test_a_table_with_a_single_axis_is_one_row_to_a_tree() -> None:
    nodes = [
        op("ReduceSum", ["x", "one"], ["sums"], keepdims=0),
        op("Scaler", ["sums"], ["scaled"], domain="ai.onnx.ml", offset=[0.0], scale=[2.0]),
        op("Unsqueeze", ["scaled", "one"], ["y"]),
    ]
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "graph",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", COLUMNS])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            given(one=ints(1)),
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)],
        ir_version=8,
    )
    found = proof_of(model.SerializeToString())
    assert found == RowProof(False, "Scaler expects the rows in another place")
