"""What the walk through a graph proves, operator by operator, and what it must not."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto

from certiset.core.errors import ModelError
from certiset.core.graphs import GraphSession, RowProof
from certiset.core.graphs.row_proof.call import RULES
from tests.core.graphs.company import differs
from tests.core.graphs.nodes import COLUMNS, graph, ints, op
from tests.core.graphs.row_proofs import proof_of

F = np.float32
CONV = np.ones((2, 1, 3, 3), F)

PROVED: dict[str, tuple[list[onnx.NodeProto], dict[str, Any]]] = {
    "a constant with one entry for all rows": ([op("Add", ["x", "c"])], {"c": np.ones((1, 4), F)}),
    "a column against a table": (
        [op("ReduceMean", ["x"], ["m"], axes=[1]), op("Sub", ["x", "m"])],
        {},
    ),
    "reshaped with the rows in front": (
        [op("Reshape", ["x", "s"], ["r"]), op("ReduceMax", ["r"], axes=[2], keepdims=0)],
        {"s": ints(-1, 2, 2)},
    ),
    "reshaped with the rows copied": ([op("Reshape", ["x", "s"])], {"s": ints(0, -1)}),
    "rows times heads, and back": (
        [
            op("Reshape", ["x", "s"], ["heads"]),
            op("Softmax", ["heads"], ["soft"], axis=1),
            op("Reshape", ["soft", "t"]),
        ],
        {"s": ints(-1, 2), "t": ints(-1, 4)},
    ),
    "rows moved to the back, and to the front again": (
        [
            op("Transpose", ["x"], ["t"], perm=[1, 0]),
            op("Softmax", ["t"], ["soft"], axis=0),
            op("Transpose", ["soft"], perm=[1, 0]),
        ],
        {},
    ),
    "the shape read and used as a shape": (
        [
            op("Shape", ["x"], ["shape"]),
            op("Gather", ["shape", "zero"], ["n"]),
            op("Concat", ["n", "rest"], ["all"], axis=0),
            op("Reshape", ["x", "all"], ["r"]),
            op("ReduceSum", ["r", "two"], keepdims=0),
        ],
        {"zero": ints(0), "rest": ints(2, 2), "two": ints(2)},
    ),
    "a token for each row": (
        [
            op("Shape", ["x"], ["shape"]),
            op("Slice", ["shape", "zero", "one"], ["n"]),
            op("Concat", ["n", "one"], ["all"], axis=0),
            op("Expand", ["token", "all"], ["tokens"]),
            op("Concat", ["tokens", "x"], axis=1),
        ],
        {"zero": ints(0), "one": ints(1), "token": np.full((1, 1), 7, F)},
    ),
    "attention within a row": (
        [
            op("Reshape", ["x", "s"], ["r"]),
            op("Transpose", ["r"], ["t"], perm=[0, 2, 1]),
            op("MatMul", ["r", "t"], ["products"]),
            op("Softmax", ["products"], ["weights"], axis=2),
            op("MatMul", ["weights", "r"], ["found"]),
            op("Flatten", ["found"]),
        ],
        {"s": ints(0, 2, 2)},
    ),
    "Einsum within a row": (
        [
            op("Reshape", ["x", "s"], ["r"]),
            op("Einsum", ["r", "r"], ["e"], equation="bij,bkj->bik"),
            op("Flatten", ["e"]),
        ],
        {"s": ints(0, 2, 2)},
    ),
    "the largest entries of a row": ([op("TopK", ["x", "k"], ["y", "i"], axis=1)], {"k": ints(2)}),
    "columns": ([op("Gather", ["x", "i"], axis=1)], {"i": ints(3, 0)}),
    "a table looked up": (
        [
            op("ArgMax", ["x"], ["i"], axis=1, keepdims=0),
            op("Gather", ["table", "i"], axis=0),
        ],
        {"table": np.arange(8, dtype=F).reshape(4, 2)},
    ),
    "a convolution with batch norm": (
        [
            op("Reshape", ["x", "s"], ["image"]),
            op("Conv", ["image", "w"], ["c"], pads=[1, 1, 1, 1]),
            op("BatchNormalization", ["c", "one", "one", "one", "one"], ["b"]),
            op("MaxPool", ["b"], ["p"], kernel_shape=[2, 2]),
            op("Flatten", ["p"]),
        ],
        {"s": ints(-1, 1, 2, 2), "w": CONV, "one": np.ones(2, F)},
    ),
    "resized images": (
        [
            op("Reshape", ["x", "s"], ["image"]),
            op("Resize", ["image", "", "scales"], ["r"], mode="nearest"),
            op("Flatten", ["r"]),
        ],
        {"s": ints(-1, 1, 2, 2), "scales": np.array([1, 1, 2, 2], F)},
    ),
    "quantised with a scale of its own": (
        [op("QuantizeLinear", ["x", "scale"], ["q"]), op("DequantizeLinear", ["q", "scale"])],
        {"scale": F(0.1)},
    ),
    "a recurrent network": (
        [
            op("Reshape", ["x", "s"], ["steps"]),
            op("Transpose", ["steps"], ["t"], perm=[1, 0, 2]),
            op("GRU", ["t", "w", "r"], ["", "h"], hidden_size=2),
            op("Squeeze", ["h", "zero"]),
        ],
        {"s": ints(0, 2, 2), "w": np.ones((1, 6, 2), F), "r": np.ones((1, 6, 2), F), "zero": ints(0)},
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_what_treats_rows_one_by_one_is_proved(name: str) -> None:
    nodes, arrays = PROVED[name]
    content = graph(*nodes, columns="columns", **arrays)
    assert proof_of(content) == RowProof(True)
    rows = np.random.default_rng(0).standard_normal((6, COLUMNS)).astype(F)
    raw = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    assert differs(lambda batch: raw.run(["y"], {"x": batch})[0], rows) < 1e-5


UNPROVED: dict[str, tuple[list[onnx.NodeProto], dict[str, Any], str]] = {
    "a constant by position": ([op("Add", ["x", "c"])], {"c": np.arange(7, dtype=F)[:, None]}, "by their position"),
    "all axes of one dropped": (
        [op("Reshape", ["x", "s"], ["r"]), op("Squeeze", ["r"])],
        {"s": ints(0, 1, 4)},
        "when there is one row",
    ),
    "a shape that fixes the rows": ([op("Reshape", ["x", "s"])], {"s": ints(1, 4)}, "fixes the number of rows"),
    "more than the row's numbers": ([op("Reshape", ["x", "s"])], {"s": ints(-1, 8)}, "several rows together"),
    "a shape that the data say": (
        [
            op("ReduceMax", ["x"], ["m"], keepdims=0),
            op("Cast", ["m"], ["k"], to=TensorProto.INT64),
            op("Unsqueeze", ["k", "zero"], ["s"]),
            op("Expand", ["x", "s"]),
        ],
        {"zero": ints(0)},
        "ReduceMax summarises over rows",
    ),
    "batch norm in training": (
        [op("BatchNormalization", ["x", "o", "o", "o", "o"], ["y", "m", "v"], training_mode=1)],
        {"o": np.ones(4, F)},
        "takes means over rows",
    ),
    "scales by row": (
        [op("QuantizeLinear", ["x", "scale"], ["q"], axis=0), op("DequantizeLinear", ["q", "scale"], axis=0)],
        {"scale": np.ones(6, F)},
        "along the axis of rows",
    ),
    "old softmax from the first axis on": (
        [op("ReduceLogSumExp", ["x"], ["s"], axes=[0, 1]), op("Sub", ["x", "s"])],
        {},
        "summarises over rows",
    ),
    "places counted through the batch": (
        [
            op("Reshape", ["x", "s"], ["image"]),
            op("MaxPool", ["image"], ["p", "i"], kernel_shape=[2, 2]),
            op("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
            op("Flatten", ["f"]),
        ],
        {"s": ints(-1, 1, 2, 2)},
        "output that is not followed",
    ),
    "the rows of another value, and too few numbers": (
        [
            op("Split", ["x"], ["left", "right"], axis=1),
            op("Shape", ["x"], ["shape"]),
            op("Gather", ["shape", "zero"], ["n"]),
            op("Concat", ["n", "rest"], ["all"], axis=0),
            op("Reshape", ["right", "all"]),
        ],
        {"zero": ints(0), "rest": ints(2, 2)},
        "several rows together",
    ),
    "an unknown operator": ([op("Det", ["x"])], {}, "Det is not known to treat rows one by one"),
    "an end that overflows to the third row": (
        [
            op("Mul", ["huge", "four"], ["nothing"]),
            op("Add", ["nothing", "three"], ["end"]),
            op("Slice", ["x", "zero", "end", "zero"]),
        ],
        {"huge": ints(2**62), "four": ints(4), "three": ints(3), "zero": ints(0)},
        "along the axis of rows",
    ),
    "resized in a way that may shift": (
        [
            op("Reshape", ["x", "s"], ["image"]),
            op(
                "Resize",
                ["image", "", "scales"],
                ["r"],
                mode="nearest",
                nearest_mode="ceil",
                coordinate_transformation_mode="tf_half_pixel_for_nn",
            ),
            op("Flatten", ["r"]),
        ],
        {"s": ints(-1, 1, 2, 2), "scales": np.array([1, 1, 2, 2], F)},
        "not followed",
    ),
}


@pytest.mark.parametrize("name", UNPROVED)
def test_what_may_mix_rows_is_not_proved(name: str) -> None:
    nodes, arrays, words = UNPROVED[name]
    found = proof_of(graph(*nodes, columns="columns", **arrays))
    assert not found.proved
    assert words in str(found.reason)


def test_the_documentation_lists_the_operators_that_are_known() -> None:
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text()
    assert [operator for _, operator in RULES if f"`{operator}`" not in page] == []


def test_a_shape_that_does_not_fit_fails_and_takes_no_rows_together() -> None:
    """onnxruntime would write -1 for the number of rows here, and give half as many."""
    nodes, arrays, _ = UNPROVED["the rows of another value, and too few numbers"]
    session = GraphSession(graph(*nodes, columns=None, **arrays))
    with pytest.raises(ModelError, match="failed on its input"):
        session(np.ones((6, COLUMNS), F))
