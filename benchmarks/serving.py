"""What serving sets costs, as ratios within one run: requests against an empty route, many rows against the bare model.

    python -m benchmarks.serving [--seconds 5] [--requests 100000] [--output FILE]
    python -m benchmarks.serving --baseline CHECKOUT

The second form compares GET /predict_set with that of another version, from its own checkout, window by window in turn.

The model is LeNet-5 with random weights, on images or, for the requests of one row, on its 400 features (the "head").
Server and client are two processes. The empty route is in the same app behind the same middleware and key.
"""

import argparse
import asyncio
import io
import json
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

from benchmarks.http_load import KEY, run, wait_for_server
from certiset.core.certificate.signing import Signer
from certiset.core.fit import Predictor, fit
from certiset.core.jobs.fit_results import fit_result
from certiset.core.models import Model
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.records import Dataset, ModelRecord

ROWS = 10_000
CROWD = 50
"""connections"""
PORT = 8766
_BASELINE_PORT = 8765
_WINDOWS = 9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each measurement")
    parser.add_argument("--requests", type=int, default=100_000, help="requests of the memory measurement")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--baseline", type=Path, metavar="CHECKOUT", help="another version to compare with")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=_BASELINE_PORT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.port)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.baseline:
            result = compare(Path(folder), options.baseline, options.seconds)
        else:
            result = measure(Path(folder), options.seconds, options.requests)
    print(json.dumps(result, indent=1))
    if options.output:
        options.output.write_text(json.dumps(result, indent=1) + "\n")


def serve(home: Path, port: int) -> None:
    import uvicorn  # noqa: PLC0415
    from fastapi import APIRouter  # noqa: PLC0415

    from certiset.service.http.access.requirements import requires  # noqa: PLC0415
    from certiset.service.http.app import create_app  # noqa: PLC0415
    from certiset.service.http.connections import limited_protocol  # noqa: PLC0415

    router = APIRouter()

    @router.get("/empty")
    @requires("read")
    async def empty() -> dict[str, bool]:
        return {"ok": True}

    settings = Settings(home=home, api_keys=KEY, rate_limit=0)
    # As `certiset api` serves: with its limits on connections.
    uvicorn.run(
        create_app(settings, [router]),
        port=port,
        log_level="warning",
        access_log=False,
        http=limited_protocol(settings),
        ws="none",
    )


def start(home: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.serving", "--serve", str(home), "--port", str(PORT)]
    return subprocess.Popen(command)


def compare(folder: Path, baseline: Path, seconds: float) -> dict[str, Any]:
    """Requests per second of this version against another's, each with a predictor that its own code has fitted."""
    row = ",".join(f"{value:.4f}" for value in np.random.default_rng(1).normal(size=400))
    own, other = folder / "own", folder / "other"
    own_id, _ = store_predictor(own, "none", (400,))
    program = (
        "import sys\nfrom pathlib import Path\nfrom benchmarks.serving import store_predictor\n"
        "print(store_predictor(Path(sys.argv[1]), 'none', (400,))[0])"
    )
    elsewhere: dict[str, Any] = {"cwd": baseline, "env": {**os.environ, "PYTHONPATH": str(baseline.absolute())}}
    fitted = subprocess.run(
        [sys.executable, "-c", program, str(other)], **elsewhere, capture_output=True, text=True, check=True
    )
    command = [sys.executable, "-m", "benchmarks.serving", "--serve", str(other)]
    servers = [start(own), subprocess.Popen(command, **elsewhere)]
    targets = {
        "own": (PORT, f"/predict_set?predictor={own_id}&x={row}"),
        "baseline": (_BASELINE_PORT, f"/predict_set?predictor={fitted.stdout.split()[-1]}&x={row}"),
    }
    try:
        result: dict[str, Any] = {"cpus": os.cpu_count(), "torch": torch.__version__}
        for port, path in targets.values():
            asyncio.run(wait_for_server(port))
            run(port, path, 8, 1.0)
        for connections in (8, CROWD):
            rates: dict[str, list[float]] = {name: [] for name in targets}
            for _ in range(_WINDOWS):
                for name, (port, path) in targets.items():
                    found = run(port, path, connections, seconds)
                    assert not found["errors"]
                    rates[name].append(found["rate"])
            middle = {f"{name}_per_second": statistics.median(found) for name, found in rates.items()}
            # Each window against its neighbour: a machine that is slower for a while is so for both.
            pairs = zip(rates["own"], rates["baseline"], strict=True)
            ratio = statistics.median(own / other for own, other in pairs)
            result[f"{connections}_connections"] = {**middle, "ratio": ratio}
        return result
    finally:
        for server in servers:
            server.terminate()
            server.wait()


def measure(home: Path, seconds: float, requests: int) -> dict[str, Any]:
    head_id, head = store_predictor(home, "none", (400,))
    lenet_id, lenet = store_predictor(home, "lenet5", (1, 28, 28))
    row = ",".join(f"{value:.4f}" for value in np.random.default_rng(1).normal(size=400))
    server = start(home)
    try:
        asyncio.run(wait_for_server(PORT))
        paths = {"empty": "/empty", "predict_set": f"/predict_set?predictor={head_id}&x={row}"}
        result: dict[str, Any] = {"cpus": os.cpu_count(), "torch": torch.__version__}
        run(PORT, paths["predict_set"], 8, 1.0)
        # With 8 connections server and client wait for each other in turn; 50 keep the server busy all the time.
        for connections in (8, CROWD):
            rates: dict[str, list[float]] = {"empty": [], "predict_set": []}
            for _ in range(5):
                for name, path in paths.items():
                    rates[name].append(run(PORT, path, connections, seconds)["rate"])
            middle = {name: statistics.median(found) for name, found in rates.items()}
            result[f"{connections}_connections"] = {
                "empty_per_second": middle["empty"],
                "predict_set_per_second": middle["predict_set"],
                "ratio": middle["predict_set"] / middle["empty"],
            }
        full = {name: result[f"{CROWD}_connections"][f"{name}_per_second"] for name in paths}
        result["half_load"] = tails(paths, {name: rate / 2 for name, rate in full.items()}, seconds)
        result["same_rate"] = tails(paths, dict.fromkeys(paths, full["predict_set"] / 2), seconds)
        crowd = run(PORT, paths["predict_set"], CROWD, seconds)
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
            found[name].append(1000 * run(PORT, path, 8, seconds, rate=rates[name])["p99"])
    middle = {f"{name}_p99_ms": statistics.median(windows) for name, windows in found.items()}
    return middle | {"ratio": middle["predict_set_p99_ms"] / middle["empty_p99_ms"]}


def store_predictor(
    home: Path, backbone: str, shape: tuple[int, ...], tenant: str = "default"
) -> tuple[str, Predictor]:
    """A fitted predictor, entered as a worker would; each tenant has its own."""
    random = np.random.default_rng(len(tenant))
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
    # One tuned member: what every earlier version served, so that versions can be compared.
    predictor = fit(Model.from_manifest(manifest, weights), x, y, method="learned", prior={"steps": 5})
    store = Store.ready(Settings(home=home))
    certificate = predictor.certificate
    dataset = Dataset(id=f"ds-{backbone}", tenant=tenant, artifact="0" * 64)
    model = ModelRecord(id=f"mod-{backbone}", artifact="0" * 64, manifest=manifest)
    with store.writing() as work:
        calibration = work.calibrations.create(dataset, model, {}, name=backbone)
        claim = work.leases.claim(calibration.id)
        assert claim is not None
        # As a worker would: what nobody has signed is not served.
        signed = Signer.from_file_or_new(store.settings.signing_key).sign(certificate)
        work.leases.succeed(claim, fit_result(predictor, store.artifacts, signed))
    store.close()
    return certificate.predictor_id, predictor


def many_rows(predictor_id: str, predictor: Predictor, shape: tuple[int, ...]) -> dict[str, float]:
    """POST of 10,000 rows as .npz, answered as .npz, against the bare forward pass in this process."""
    import httpx  # noqa: PLC0415

    x = np.random.default_rng(2).normal(size=(ROWS, *shape)).astype(np.float32)
    stream = io.BytesIO()
    np.savez(stream, x=x)
    body = stream.getvalue()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/x-npz", "Accept": "application/x-npz"}
    http, bare = [], []
    with httpx.Client(base_url=f"http://127.0.0.1:{PORT}", headers=headers, timeout=60) as client:
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
    rate = run(PORT, path, 16, 2.0)["rate"]
    run(PORT, path, 16, requests / 10 / rate)
    before = resident(pid)
    run(PORT, path, 16, requests / rate)
    after = resident(pid)
    return {"requests": requests, "before_mb": before, "after_mb": after, "ratio": after / before}


def resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
