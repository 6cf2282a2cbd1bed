"""The tail of GET /predict_set, as ratios to an empty route's within one run.

    python -m benchmarks.tails [--seconds 3] [--windows 5] [--output FILE]

Both are asked at half of what GET /predict_set bears: by themselves, and while another tenant posts batches of 10,000
rows in three loops. Reach: at most 3 times the empty route's 99th percentile, and at most 5 times with the batches.
"""

import argparse
import asyncio
import io
import json
import multiprocessing
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.http_load import run, wait_for_server
from benchmarks.serving import CROWD, PORT, start, store_predictor
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.secret import derive, read_secret

ROWS = 10_000
_LOOPS = 3
_OTHER = "other"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of each window")
    parser.add_argument("--windows", type=int, default=5, help="the median of so many is reported")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), options.seconds, options.windows)
    print(json.dumps(result, indent=1))
    if options.output:
        options.output.write_text(json.dumps(result, indent=1) + "\n")


def measure(home: Path, seconds: float, windows: int) -> dict[str, Any]:
    own, _ = store_predictor(home, "none", (400,))
    others, _ = store_predictor(home, "none", (400,), tenant=_OTHER)
    settings = Settings(home=home)
    store = Store.ready(settings)
    ring = KeyRing(store, derive(read_secret(settings.secret), "api keys"))
    key = ring.create(tenant=_OTHER, name=_OTHER, scopes=["read"])[1]
    store.close()
    row = ",".join(f"{value:.4f}" for value in np.random.default_rng(1).normal(size=400))
    paths = {"empty": "/empty", "predict_set": f"/predict_set?predictor={own}&x={row}"}
    server = start(home)
    try:
        asyncio.run(wait_for_server(PORT))
        run(PORT, paths["predict_set"], 8, 1.0)
        rate = run(PORT, paths["predict_set"], CROWD, seconds)["rate"] / 2
        result: dict[str, Any] = {"cpus": os.cpu_count(), "requests_per_second": rate}
        result["alone"] = tails(paths, rate, seconds, windows)
        with batches(key, others) as served:
            beside = tails({"predict_set": paths["predict_set"]}, rate, seconds, windows)
        beside["batches"] = served.value
        beside["ratio"] = beside["predict_set_p99_ms"] / result["alone"]["empty_p99_ms"]
        result["beside_batches"] = beside
        return result
    finally:
        server.terminate()
        server.wait()


def tails(paths: dict[str, str], rate: float, seconds: float, windows: int) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in paths}
    errors = 0
    for _ in range(windows):
        for name, path in paths.items():
            window = run(PORT, path, 8, seconds, rate=rate)
            found[name].append(1000 * window["p99"])
            errors += window["errors"]
    middle = {f"{name}_p99_ms": statistics.median(times) for name, times in found.items()} | {"errors": errors}
    if "empty" in paths:
        middle["ratio"] = middle["predict_set_p99_ms"] / middle["empty_p99_ms"]
    return middle


@contextmanager
def batches(key: str, predictor: str) -> Iterator[Any]:
    """Another tenant's loops, in processes of their own; the value counts the batches that were served."""
    context = multiprocessing.get_context("spawn")
    served = context.Value("i", 0)
    loops = [context.Process(target=_post, args=(key, predictor, served), daemon=True) for _ in range(_LOOPS)]
    for loop in loops:
        loop.start()
    try:
        yield served
    finally:
        for loop in loops:
            loop.terminate()
            loop.join()


def _post(key: str, predictor: str, served: Any) -> None:
    stream = io.BytesIO()
    np.savez(stream, x=np.random.default_rng(2).normal(size=(ROWS, 400)).astype(np.float32))
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-npz", "Accept": "application/x-npz"}
    with httpx.Client(base_url=f"http://127.0.0.1:{PORT}", headers=headers, timeout=60) as client:
        while True:
            answer = client.post("/predict_set", params={"predictor": predictor}, content=stream.getvalue())
            if answer.status_code == 200:
                with served.get_lock():
                    served.value += 1


if __name__ == "__main__":
    main()
