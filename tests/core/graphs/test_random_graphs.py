"""Whenever a graph is said to treat rows one by one, it does: tried on random graphs, of which many do not."""

from collections import Counter

import numpy as np
import onnxruntime
from hypothesis import given
from hypothesis import strategies as st

from certiset.core.graphs.row_proof.graph_file import outline, read_model
from certiset.core.graphs.row_proof.walk import prove
from tests.core.graphs.company import differs
from tests.core.graphs.nodes import COLUMNS
from tests.core.graphs.random_graphs import Choice, random_graph

ROWS = np.random.default_rng(0).standard_normal((6, COLUMNS)).astype(np.float32)
ROUNDING = 1e-3
choice = st.tuples(*[st.integers(0, 999)] * 4)


def outcome(choices: list[Choice]) -> str:
    """fails, honest or dishonest; and whether it was proved."""
    content = random_graph(choices)
    try:
        session = _session(content)
        found = session.run(["y"], {"x": ROWS})[0]
    except Exception:  # onnxruntime raises several kinds, none of them documented
        return "fails"
    if prove(outline(read_model(content)), (COLUMNS,)).proved:
        # That it runs for other numbers of rows as well is a part of the proof.
        gap = differs(lambda batch: session.run(["y"], {"x": batch})[0], ROWS)
        return "proved" if gap < ROUNDING else f"dishonest by {gap}, and proved"
    return "not proved" if found.size else "fails"


def _session(content: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


@given(st.lists(choice, min_size=1, max_size=6))
def test_what_is_proved_is_true(choices: list[Choice]) -> None:
    assert "dishonest" not in outcome(choices)


def test_the_random_graphs_are_of_both_kinds() -> None:
    generator = np.random.default_rng(0)
    found = Counter(
        outcome([tuple(one) for one in generator.integers(1000, size=(generator.integers(1, 7), 4)).tolist()])
        for _ in range(200)
    )
    assert set(found) == {"fails", "proved", "not proved"}
    assert min(found["proved"], found["not proved"]) > 20
