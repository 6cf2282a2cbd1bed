"""Whatever a graph does with a batch, what is certified and served is a function of one row."""

import contextlib
from collections.abc import Callable

import numpy as np
import onnxruntime
import pytest

from certiset.core.errors import ModelError
from certiset.core.fit import Predictor, fit
from certiset.core.graphs import GraphHost, GraphSession
from certiset.core.models import Model
from tests.core.graphs.chance import RANDOM
from tests.core.graphs.company import companies, differs
from tests.core.graphs.deceptive import DECEPTIVE
from tests.core.graphs.dishonest import DISHONEST
from tests.core.graphs.more_dishonest import MORE
from tests.core.graphs.nodes import COLUMNS

ROWS = np.random.default_rng(0).standard_normal((6, COLUMNS)).astype(np.float32)
ALL = DISHONEST | MORE
dishonest = pytest.mark.parametrize("made", ALL.values(), ids=ALL)


@dishonest
def test_a_row_does_not_see_its_company(made: Callable[[], bytes]) -> None:
    raw = onnxruntime.InferenceSession(made(), providers=["CPUExecutionProvider"])
    assert differs(lambda batch: raw.run(["y"], {"x": batch})[0], ROWS) > 0.1
    session = GraphSession(made())
    assert differs(session, ROWS) == 0.0
    assert session.row_proof.rows == "one_by_one"
    assert session.row_proof.reason


@pytest.mark.parametrize("made", DECEPTIVE.values(), ids=DECEPTIVE)
def test_what_a_file_says_of_itself_is_not_believed(made: Callable[[], bytes]) -> None:
    raw = onnxruntime.InferenceSession(made(), providers=["CPUExecutionProvider"])
    session, most = GraphSession(made()), 0.0
    for count in (2, 9, 17):
        rows = np.random.default_rng(count).standard_normal((count, COLUMNS)).astype(np.float32)
        alone = np.concatenate([session(rows[row : row + 1]) for row in range(count)])
        assert np.array_equal(session(rows), alone)
        with contextlib.suppress(Exception):
            most = max(most, float(np.abs(raw.run(["y"], {"x": rows})[0] - alone).max()))
    assert most > 0.01, "onnxruntime believes it"


@pytest.mark.parametrize("made", RANDOM.values(), ids=RANDOM)
def test_a_graph_with_chance_in_it_is_refused(made: Callable[[], bytes]) -> None:
    with pytest.raises(ModelError, match="so that the same input would get another set each time"):
        GraphSession(made())


def test_a_confined_graph_says_the_same() -> None:
    host = GraphHost()
    for name in ("centred over rows", "branching on the number of rows"):
        graph = host.open(DISHONEST[name]())
        assert differs(graph, ROWS) == 0.0
        assert graph.row_proof == _judged(DISHONEST[name]())
    with pytest.raises(ModelError, match="random numbers"):
        host.open(RANDOM["noise"]())(ROWS)
    host.close()


def _judged(content: bytes) -> object:
    session = GraphSession(content)
    session(ROWS)
    return session.row_proof


def fitted(content: bytes, rows: int = 80) -> Predictor:
    generator = np.random.default_rng(1)
    x = generator.standard_normal((rows, COLUMNS)).astype(np.float32)
    manifest = {"task": "regression", "input_shape": [COLUMNS], "backbone": {"kind": "onnx"}}
    model = Model.from_manifest(manifest, onnx=content)
    return fit(model, x, x + generator.standard_normal(x.shape), method="standard", bound="vovk_2b", score="box")


@dishonest
def test_a_certified_set_is_the_same_in_any_company(made: Callable[[], bytes]) -> None:
    predictor = fitted(made())
    assert predictor.scorer.model.rows == "one_by_one"
    together = predictor.predict_set(ROWS, member=0).to_json()
    for batch, which in companies(ROWS):
        found = predictor.predict_set(batch, member=0).to_json()
        assert [found[place] for place in np.flatnonzero(which >= 0)] == [together[row] for row in which if row >= 0]
