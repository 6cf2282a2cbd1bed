"""An ONNX network in a confined process against the same one in this process, as ratios within one run.

    python -m benchmarks.graphs [--seconds 2] [--windows 7] [--output FILE]

A network of 784-512-512-10, as a backbone would be. Reach: at least 0.8 of the throughput at batches of 256, and for a
single row at most a millisecond more. Also, for this network and one of 10-32-32-1, what a row of a batch of 256 takes
where the graph is not proved to keep rows apart, and every row is a call of its own.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from certiset.core.graphs import Graph, GraphHost, GraphSession

WIDTHS = (784, 512, 512, 10)
SMALL = (10, 32, 32, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each window")
    parser.add_argument("--windows", type=int, default=7, help="the median of so many is reported")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    result = measure(options.seconds, options.windows)
    print(json.dumps(result, indent=1))
    if options.output:
        options.output.write_text(json.dumps(result, indent=1) + "\n")


def measure(seconds: float, windows: int) -> dict[str, Any]:
    content, host = network(), GraphHost()
    graphs: dict[str, Graph] = {"confined": host.open(content), "here": GraphSession(content)}
    try:
        batch = {rows: np.random.default_rng(rows).random((rows, WIDTHS[0]), dtype=np.float32) for rows in (1, 256)}
        times = {rows: _times(graphs, x, seconds, windows) for rows, x in batch.items()}
        apart = {name: _apart(widths, seconds, windows) for name, widths in (("large", WIDTHS), ("small", SMALL))}
    finally:
        host.close()
    return {
        "cpus": os.cpu_count(),
        "batches_of_256": {**times[256], "throughput_ratio": times[256]["here_ms"] / times[256]["confined_ms"]},
        "single_row": {**times[1], "more_ms": times[1]["confined_ms"] - times[1]["here_ms"]},
        "one_by_one": apart,
    }


def _apart(widths: Sequence[int], seconds: float, windows: int) -> dict[str, float]:
    """Microseconds per row, in this process. All that the unproved network has more is a mean over rows, times zero."""
    graphs: dict[str, Graph] = {
        "proved": GraphSession(network(widths)),
        "one_by_one": GraphSession(network(widths, mixes=True)),
    }
    x = np.random.default_rng(0).random((256, widths[0]), dtype=np.float32)
    times = {name: 1000 / len(x) * ms for name, ms in _times(graphs, x, seconds, windows).items()}
    assert [graph.row_proof.rows for graph in graphs.values()] == [*graphs]
    found = {name.removesuffix("_ms") + "_us": time for name, time in times.items()}
    return {**found, "ratio": found["one_by_one_us"] / found["proved_us"]}


def network(widths: Sequence[int] = WIDTHS, *, mixes: bool = False) -> bytes:
    generator = np.random.default_rng(0)
    nodes, weights, last = [], [], "x"
    for layer, (rows, columns) in enumerate(pairwise(widths)):
        matrix = (generator.standard_normal((rows, columns)) / rows**0.5).astype(np.float32)
        weights.append(numpy_helper.from_array(matrix, f"w{layer}"))
        nodes.append(helper.make_node("MatMul", [last, f"w{layer}"], [f"h{layer}"]))
        last = f"h{layer}"
        if layer < len(widths) - 2:
            nodes.append(helper.make_node("Relu", [last], [f"r{layer}"]))
            last = f"r{layer}"
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", widths[0]])]
    if mixes:
        weights.append(numpy_helper.from_array(np.zeros(1, dtype=np.float32), "nothing"))
        nodes += [
            helper.make_node("ReduceMean", [last], ["mean"], axes=[0]),
            helper.make_node("Mul", ["mean", "nothing"], ["none"]),
            helper.make_node("Add", [last, "none"], ["mixed"]),
        ]
        last = "mixed"
    outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["rows", widths[-1]])]
    graph = helper.make_graph(nodes, "network", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content: bytes = model.SerializeToString()
    return content


def _times(graphs: dict[str, Graph], x: NDArray[Any], seconds: float, windows: int) -> dict[str, float]:
    """Milliseconds for one call, the medians of windows that take turns."""
    found: dict[str, list[float]] = {name: [] for name in graphs}
    for name in [*graphs] * windows:
        found[name].append(_one_window(graphs[name], x, seconds))
    return {f"{name}_ms": 1000 * statistics.median(times) for name, times in found.items()}


def _one_window(graph: Graph, x: NDArray[Any], seconds: float) -> float:
    graph(x)
    begin, calls = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        graph(x)
        calls += 1
    return (time.perf_counter() - begin) / calls


if __name__ == "__main__":
    main()
