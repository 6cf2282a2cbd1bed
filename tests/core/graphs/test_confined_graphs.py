"""Strangers' graphs in processes of their own: what they compute, and what they cannot do to whoever asks."""

import gc
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from certiset.core.errors import ModelError
from certiset.core.graphs import GraphBlockedError, GraphDiedError, GraphHost, GraphLimits, GraphSession
from certiset.core.graphs import confined_graph as module
from certiset.core.graphs.graph_process import GraphProcess
from certiset.core.sandbox import SandboxError
from tests.core.models import onnx_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="shared memory of this kind is Linux's")


@pytest.fixture
def host() -> Iterator[GraphHost]:
    deaths.clear()
    made = GraphHost(GraphLimits(seconds=3.0), died=lambda: deaths.append(1))
    yield made
    made.close()


deaths: list[int] = []


def test_the_same_numbers_as_in_this_process(host: GraphHost) -> None:
    graph, here = host.open(onnx_files.linear()), GraphSession(onnx_files.linear())
    generator = np.random.default_rng(0)
    for rows in (1, 2, 100, 5000):
        x = generator.standard_normal((rows, 4)).astype(np.float32)
        assert np.array_equal(graph(x), here(x))
    assert graph(np.ones((3, 4), dtype=np.float64)).dtype == np.float32


def test_many_rows_go_in_pieces(host: GraphHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK_BYTES", 100)
    x = np.arange(4000, dtype=np.float32).reshape(1000, 4)
    assert np.array_equal(host.open(onnx_files.linear())(x), x @ onnx_files.MATRIX)


def test_a_crash_ends_its_own_process_alone_and_the_next_rows_are_computed(host: GraphHost) -> None:
    graph = host.open(onnx_files.trap())
    assert graph(np.array([[5.0]], dtype=np.float32)).shape == (1, 1)
    with pytest.raises(GraphDiedError, match="The model's process was killed by SIGFPE while it computed these rows"):
        graph(np.array([[777.0]], dtype=np.float32))
    assert deaths == [1]
    assert graph(np.array([[5.0]], dtype=np.float32)).shape == (1, 1)


def test_a_loop_without_end_is_ended_and_a_model_that_keeps_dying_is_not_started_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.3)
    host = GraphHost(GraphLimits(seconds=0.5))
    graph = host.open(onnx_files.endless())
    x = np.ones((1, 4), dtype=np.float32)
    for _ in range(3):
        with pytest.raises(GraphDiedError, match=r"took longer than 0\.5 seconds"):
            graph(x)
    begin = time.monotonic()
    with pytest.raises(GraphBlockedError, match="died 3 times within 60 seconds, and is not started again") as caught:
        graph(x)
    assert caught.value.retry_seconds == 1
    assert time.monotonic() - begin < 0.3
    time.sleep(0.4)
    with pytest.raises(GraphDiedError):
        graph(x)
    host.close()


def test_memory_is_its_own(host: GraphHost) -> None:
    graph = host.open(onnx_files.growing())
    assert graph(np.array([[70_000.0]], dtype=np.float32)).shape == (1, 70_000)
    with pytest.raises(ModelError, match=r"failed on its input|larger than|more memory"):
        graph(np.array([[2.0**34]], dtype=np.float32))
    small = GraphHost(GraphLimits(largest_output=2**20)).open(onnx_files.growing())
    with pytest.raises(ModelError, match="output is larger than 1,048,576 bytes"):
        small(np.array([[300_000.0]], dtype=np.float32))
    assert small(np.array([[3.0]], dtype=np.float32)).shape == (1, 3)


def test_what_cannot_be_loaded_is_said(host: GraphHost) -> None:
    for content in (b"", b"not a model", struct.pack("<Q", 2**60)):
        with pytest.raises(ModelError, match="The ONNX model cannot be loaded"):
            host.open(content)(np.ones((1, 4), dtype=np.float32))


def test_a_graph_that_nobody_holds_takes_its_process_with_it(host: GraphHost) -> None:
    graph = host.open(onnx_files.linear())
    graph(np.ones((1, 4), dtype=np.float32))
    assert graph._process is not None
    process = graph._process
    del graph
    gc.collect()
    assert not process.alive


def test_owners_have_so_many_processes(host: GraphHost) -> None:
    x = np.ones((1, 4), dtype=np.float32)
    graphs = [host.of("ada").open(onnx_files.linear()) for _ in range(3)]
    other = host.of("bob").open(onnx_files.linear())
    for graph in (other, *graphs):
        graph(x)
    assert [graph.running for graph in (other, *graphs)] == [True, False, True, True]
    assert graphs[0](x).shape == (1, 3)
    assert [graph.running for graph in graphs] == [True, False, True]


LIES = [
    '{"shape": [1, 1099511627776], "dtype": "<f8"}',
    '{"shape": [1, -1], "dtype": "<f4"}',
    '{"shape": [2, 1], "dtype": "<f4"}',
    '{"shape": "x", "dtype": "<f4"}',
    '{"shape": [1, 1], "dtype": "|O"}',
    '{"needs": "all"}',
    '{"needs": 1e300}',
    "[]",
    "not JSON",
    "[" * 100_000,
]


@pytest.mark.parametrize("lie", LIES)
def test_a_process_that_was_taken_over_cannot_lie_to_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    (tmp_path / "liar.py").write_text(
        f"import sys\nfor line in sys.stdin:\n    print('{{}}' if 'threads' in line else {lie!r}, flush=True)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("certiset.core.graphs.graph_process._SERVER", "liar")
    process = GraphProcess(b"", GraphLimits(seconds=2.0))
    with pytest.raises((SandboxError, ModelError)):
        process(np.ones((1, 4), dtype=np.float32))
    assert not process.alive
