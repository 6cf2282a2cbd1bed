"""What serving sets costs, as ratios within one run: requests against an empty route, many rows against the bare model.

    python -m benchmarks.serving [--seconds 5] [--requests 100000] [--output FILE]

The model is LeNet-5 with random weights, on images or, for the requests of one row, on its 400 features (the "head").
Server and client are two processes. The empty route is in the same app behind the same middleware and key.
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
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.fit import Predictor, fit
from core.intake.outcomes import outcome_of
from core.models import Model
from core.settings import Settings
from core.store import Store
from core.store.records import Dataset, ModelRecord

KEY = "benchmark-key"
ROWS = 10_000
CROWD = 50
"""connections"""
_PORT = 8765
_WINDOWS = 9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each measurement")
    parser.add_argument("--requests", type=int, default=100_000, help="requests of the memory measurement")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), options.seconds, options.requests)
    print(json.dumps(result, indent=1))
    if options.output:
        options.output.write_text(json.dumps(result, indent=1) + "\n")


def serve(home: Path) -> None:
    import uvicorn  # noqa: PLC0415

    from service.app import create_app  # noqa: PLC0415

    app = create_app(Settings(home=home, api_keys=KEY, rate_limit=0))

    @app.get("/empty")
    async def empty() -> dict[str, bool]:
        return {"ok": True}

    uvicorn.run(app, port=_PORT, log_level="warning", access_log=False)


def measure(home: Path, seconds: float, requests: int) -> dict[str, Any]:
    head_id, head = store_predictor(home, "none", (400,))
    lenet_id, lenet = store_predictor(home, "lenet5", (1, 28, 28))
    row = ",".join(f"{value:.4f}" for value in np.random.default_rng(1).normal(size=400))
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.serving", "--serve", str(home)])
    try:
        asyncio.run(wait_for_server())
        paths = {"empty": "/empty", "predict_set": f"/predict_set?predictor={head_id}&x={row}"}
        result: dict[str, Any] = {"cpus": os.cpu_count(), "torch": torch.__version__}
        run(paths["predict_set"], 8, 1.0)
        # With 8 connections server and client wait for each other in turn; 50 keep the server busy all the time.
        for connections in (8, CROWD):
            rates: dict[str, list[float]] = {"empty": [], "predict_set": []}
            for _ in range(5):
                for name, path in paths.items():
                    rates[name].append(run(path, connections, seconds)["rate"])
            middle = {name: statistics.median(found) for name, found in rates.items()}
            result[f"{connections}_connections"] = {
                "empty_per_second": middle["empty"],
                "predict_set_per_second": middle["predict_set"],
                "ratio": middle["predict_set"] / middle["empty"],
            }
        full = {name: result[f"{CROWD}_connections"][f"{name}_per_second"] for name in paths}
        result["half_load"] = tails(paths, {name: rate / 2 for name, rate in full.items()}, seconds)
        result["same_rate"] = tails(paths, dict.fromkeys(paths, full["predict_set"] / 2), seconds)
        crowd = run(paths["predict_set"], CROWD, seconds)
        result["fifty_clients"] = {"per_second": crowd["rate"], "errors": crowd["errors"]}
        result["many_rows"] = {
            "lenet5": many_rows(lenet_id, lenet, (1, 28, 28)),
            "head": many_rows(head_id, head, (400,)),
        }
        result["memory"] = memory(server.pid, paths["predict_set"], requests)
        return result
    finally:
        server.terminate()
        server.wait()


def tails(paths: dict[str, str], rates: dict[str, float], seconds: float) -> dict[str, float]:
    """The 99th percentile of each path at its rate: the median of many windows, since a pause decides a single one."""
    found: dict[str, list[float]] = {name: [] for name in paths}
    for _ in range(_WINDOWS):
        for name, path in paths.items():
            found[name].append(1000 * run(path, 8, seconds, rate=rates[name])["p99"])
    middle = {f"{name}_p99_ms": statistics.median(windows) for name, windows in found.items()}
    return middle | {"ratio": middle["predict_set_p99_ms"] / middle["empty_p99_ms"]}


def store_predictor(home: Path, backbone: str, shape: tuple[int, ...]) -> tuple[str, Predictor]:
    """A fitted predictor, entered as a worker would."""
    random = np.random.default_rng(0)
    weights = {}
    for layer, (inputs, outputs) in enumerate(((400, 120), (120, 84), (84, 10))):
        weights[f"head.{layer}.weight"] = random.normal(size=(outputs, inputs)) / np.sqrt(inputs)
        weights[f"head.{layer}.bias"] = np.zeros(outputs)
    if backbone == "lenet5":
        for place, size in (("0", (6, 1, 5, 5)), ("3", (16, 6, 5, 5))):
            weights[f"backbone.{place}.weight"] = random.normal(size=size) / 5
            weights[f"backbone.{place}.bias"] = np.zeros(size[0])
    manifest = {
        "name": backbone,
        "task": "classification",
        "classes": 10,
        "input_shape": list(shape),
        "backbone": {"kind": backbone},
        "head": {"kind": "mlp", "widths": [400, 120, 84, 10], "activation": "relu"},
    }
    x, y = random.normal(size=(2000, *shape)).astype(np.float32), random.integers(10, size=2000)
    options: dict[str, Any] = {"prior": {"steps": 5}, "optimizer": {"steps": 5}, "members": 16}
    predictor = fit(Model.from_manifest(manifest, weights), x, y, **options)
    store = Store.ready(Settings(home=home))
    certificate = predictor.certificate
    dataset = Dataset(id=f"ds-{backbone}", tenant="default", artifact="0" * 64)
    model = ModelRecord(id=f"mod-{backbone}", artifact="0" * 64, manifest=manifest)
    with store.writing() as work:
        calibration = work.calibrations.create(dataset, model, {}, name=backbone)
        claim = work.leases.claim(calibration.id)
        assert claim is not None
        work.leases.succeed(claim, outcome_of(predictor, store.artifacts))
    store.close()
    return certificate.predictor_id, predictor


async def wait_for_server() -> None:
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", _PORT)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.1)
    raise SystemExit("the server did not start")


class Client(asyncio.Protocol):
    """One connection that sends the same request again and again, as plainly as possible."""

    def __init__(self, request: bytes, times: list[float], errors: list[int]) -> None:
        self.request, self.times, self.errors = request, times, errors
        self.buffer, self.sent, self.due = b"", 0.0, 0.0
        self.interval = 0.0
        self.stopped = False
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.due = time.perf_counter()
        self.send()

    def send(self) -> None:
        if self.stopped:
            self.transport.close()
            return
        self.sent = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.buffer[:end].lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        if len(self.buffer) < end + 4 + length:
            return
        if not head.startswith(b"http/1.1 200"):
            self.errors.append(1)
        self.buffer = b""
        now = time.perf_counter()
        # Measured from when the request was due: a late answer also delays those behind it.
        self.times.append(now - (max(self.due, 0.0) if self.interval else self.sent))
        if not self.interval:
            self.send()
            return
        self.due += self.interval
        loop = asyncio.get_running_loop()
        if self.due > now:
            loop.call_later(self.due - now, self.send)
        else:
            self.send()


async def load(path: str, connections: int, seconds: float, rate: float | None) -> dict[str, Any]:
    request = f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
    times: list[float] = []
    errors: list[int] = []
    clients = []
    loop = asyncio.get_running_loop()
    begin = time.perf_counter()
    for _ in range(connections):
        client = Client(request, times, errors)
        client.interval = connections / rate if rate else 0.0
        await loop.create_connection(lambda client=client: client, "127.0.0.1", _PORT)  # type: ignore[misc]
        clients.append(client)
        if rate:
            await asyncio.sleep(1 / rate)
    await asyncio.sleep(seconds)
    for client in clients:
        client.stopped = True
    elapsed = time.perf_counter() - begin
    times.sort()
    return {"rate": len(times) / elapsed, "p99": times[int(0.99 * len(times))], "errors": len(errors)}


def _load(arguments: tuple[str, int, float, float | None]) -> dict[str, Any]:
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:
        return asyncio.run(load(*arguments))
    return uvloop.run(load(*arguments))


def run(path: str, connections: int, seconds: float, rate: float | None = None) -> dict[str, Any]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_load, ((path, connections, seconds, rate),))


def many_rows(predictor_id: str, predictor: Predictor, shape: tuple[int, ...]) -> dict[str, float]:
    """POST of 10,000 rows as .npz, answered as .npz, against the bare forward pass in this process."""
    import httpx  # noqa: PLC0415

    x = np.random.default_rng(2).normal(size=(ROWS, *shape)).astype(np.float32)
    stream = io.BytesIO()
    np.savez(stream, x=x)
    body = stream.getvalue()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/x-npz", "Accept": "application/x-npz"}
    http, bare = [], []
    with httpx.Client(base_url=f"http://127.0.0.1:{_PORT}", headers=headers, timeout=60) as client:
        for _ in range(7):
            begin = time.perf_counter()
            answer = client.post("/predict_set", params={"predictor": predictor_id}, content=body)
            http.append(time.perf_counter() - begin)
            assert answer.status_code == 200, answer.text
            begin = time.perf_counter()
            forward(predictor, x)
            bare.append(time.perf_counter() - begin)
    served, passed = statistics.median(http), statistics.median(bare)
    return {"served_ms": 1000 * served, "bare_forward_ms": 1000 * passed, "ratio": passed / served}


@torch.no_grad()
def forward(predictor: Predictor, x: NDArray[Any]) -> None:
    """The model as given, in one batch."""
    model = predictor.scorer.model
    model.given_outputs(model.backbone.features(torch.from_numpy(x)))


def memory(pid: int, path: str, requests: int) -> dict[str, float]:
    """Resident memory of the server over so many requests, after a warm-up of a tenth of them."""
    rate = run(path, 16, 2.0)["rate"]
    run(path, 16, requests / 10 / rate)
    before = resident(pid)
    run(path, 16, requests / rate)
    after = resident(pid)
    return {"requests": requests, "before_mb": before, "after_mb": after, "ratio": after / before}


def resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
