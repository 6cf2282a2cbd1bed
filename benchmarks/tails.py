"""The tail of GET /predict_set, as ratios to an empty route's within one run.

    python -m benchmarks.tails [--seconds 2] [--windows 9] [--answers npz] [--output FILE]

Both are asked at half of what GET /predict_set bears on as many connections: by themselves, and while another tenant
posts batches of 10,000 rows in three loops. Reach: at most 3 times the empty route's 99th percentile, and at most 5
times with the batches.

Client, batches and server share the machine. What they take from each other shows in a third target, a server in a
process of its own that does nothing: no service on the same cores has a shorter tail beside the same batches.

A shared host lets processors sleep that have nothing to do, and now and then takes a tenth of a second to wake one up,
which is the 99th percentile of its window whatever runs on it. So loops that do nothing, and give way to everything
else, keep them awake all the time; and as stalls only ever add, the ratios are of the first quartiles over windows that
take turns, with medians beside them.
"""

import argparse
import asyncio
import io
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.bare_server import bare_server
from benchmarks.http_load import run, wait_for_server
from benchmarks.serving import PORT, start, store_predictor
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.secret import derive, read_secret

ROWS = 10_000
_LOOPS = 3
_CONNECTIONS = 8
_NICENESS = 10
"""of those who send batches: elsewhere they have processors of their own, and take none of the server's"""
_OTHER = "other"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each window")
    parser.add_argument("--windows", type=int, default=9, help="how many of each take turns")
    parser.add_argument("--answers", choices=("npz", "json"), default="npz", help="what the batches are answered in")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), options.seconds, options.windows, options.answers)
    print(json.dumps(result, indent=1))
    if options.output:
        options.output.write_text(json.dumps(result, indent=1) + "\n")


def measure(home: Path, seconds: float, windows: int, answers: str) -> dict[str, Any]:
    own, _ = store_predictor(home, "none", (400,))
    others, _ = store_predictor(home, "none", (400,), tenant=_OTHER)
    settings = Settings(home=home)
    store = Store.ready(settings)
    ring = KeyRing(store, derive(read_secret(settings.secret), "api keys"))
    key = ring.create(tenant=_OTHER, name=_OTHER, scopes=["read"])[1]
    store.close()
    row = ",".join(f"{value:.4f}" for value in np.random.default_rng(1).normal(size=400))
    path = f"/predict_set?predictor={own}&x={row}"
    server = start(home)
    try:
        asyncio.run(wait_for_server(PORT))
        with awake(), bare_server() as bare:
            asyncio.run(wait_for_server(bare))
            targets = {"empty": (PORT, "/empty"), "predict_set": (PORT, path), "bare_server": (bare, "/")}
            run(PORT, path, _CONNECTIONS, 1.0)
            rate = run(PORT, path, _CONNECTIONS, seconds)["rate"] / 2
            alone = tails(targets, rate, seconds, windows)
            with batches(PORT, key, others, answers) as served:
                _await_first(served)
                begin, before = time.monotonic(), served.value
                beside = tails(targets, rate, seconds, windows)
                beside["rows_per_second"] = ROWS * (served.value - before) / (time.monotonic() - begin)
        beside["ratio"] = beside["predict_set_p99_ms"] / alone["empty_p99_ms"]
        alone["ratio"] = alone["predict_set_p99_ms"] / alone["empty_p99_ms"]
        return {"cpus": os.cpu_count(), "requests_per_second": rate, "alone": alone, "beside_batches": beside}
    finally:
        server.terminate()
        server.wait()


def tails(targets: dict[str, tuple[int, str]], rate: float, seconds: float, windows: int) -> dict[str, float]:
    """The 99th percentile of each, over windows that take turns."""
    found: dict[str, list[float]] = {name: [] for name in targets}
    errors = 0
    for _ in range(windows):
        for name, (port, path) in targets.items():
            window = run(port, path, _CONNECTIONS, seconds, rate=rate)
            found[name].append(1000 * window["p99"])
            errors += window["errors"]
    quiet = {f"{name}_p99_ms": statistics.quantiles(times, n=4)[0] for name, times in found.items()}
    usual = {f"{name}_p99_median_ms": statistics.median(times) for name, times in found.items()}
    return {**quiet, **usual, "errors": errors}


def _await_first(served: Any) -> None:
    """Until all loops have begun, which takes a process some seconds."""
    while served.value < 2 * _LOOPS:
        time.sleep(0.1)


@contextmanager
def batches(port: int, key: str, predictor: str, answers: str) -> Iterator[Any]:
    """Another tenant's loops, in processes of their own; the value counts the batches that were served."""
    context = multiprocessing.get_context("spawn")
    served = context.Value("i", 0)
    loops = [
        context.Process(target=_post, args=(port, key, predictor, answers, served), daemon=True) for _ in range(_LOOPS)
    ]
    for loop in loops:
        loop.start()
    try:
        yield served
    finally:
        for loop in loops:
            loop.terminate()
            loop.join()


@contextmanager
def awake() -> Iterator[None]:
    """Keeps every processor from sleeping, with work that gives way to any other."""
    loops = [subprocess.Popen([sys.executable, "-c", _IDLE_LOOP]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


_IDLE_LOOP = "import os; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"


def _post(port: int, key: str, predictor: str, answers: str, served: Any) -> None:
    os.nice(_NICENESS)
    stream = io.BytesIO()
    np.savez(stream, x=np.random.default_rng(2).normal(size=(ROWS, 400)).astype(np.float32))
    accept = {"npz": "application/x-npz", "json": "application/json"}[answers]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-npz", "Accept": accept}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
        while True:
            answer = client.post("/predict_set", params={"predictor": predictor}, content=stream.getvalue())
            if answer.status_code == 200:
                with served.get_lock():
                    served.value += 1


if __name__ == "__main__":
    main()
