"""Inside the image: `certiset up` is started and examined, a model calibrated and asked for sets, and all stopped."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np

import certiset
from certiset import Client

ADDRESS = "http://127.0.0.1:8911"
HOME = Path(os.environ["CERTISET_HOME"])


def main() -> int:
    assert os.geteuid() == 10001, f"runs as user {os.geteuid()}"
    assert Path(certiset.__file__).is_relative_to("/opt/certiset"), certiset.__file__
    log = HOME / "up.log"
    with log.open("wb") as stream:
        service = subprocess.Popen(
            ["certiset", "up", "--no-demo", "--port", ADDRESS.rsplit(":", 1)[1]], stdout=stream, stderr=stream
        )
    try:
        wait_until_ready(service, log)
        subprocess.run(["certiset", "doctor"], check=True)
        calibrate()
    finally:
        service.send_signal(signal.SIGTERM)
        code = service.wait(timeout=60)
    print(f"stopped with exit code {code}")
    return code


def wait_until_ready(service: "subprocess.Popen[bytes]", log: Path) -> None:
    started = time.monotonic()
    while True:
        try:
            with urllib.request.urlopen(f"{ADDRESS}/readyz", timeout=5) as answer:
                print(f"ready after {time.monotonic() - started:.0f} s: {answer.read().decode()}")
                return
        except OSError:
            if service.poll() is not None or time.monotonic() - started > 180:
                raise SystemExit(f"The service does not start:\n{log.read_text()}") from None
            time.sleep(0.5)


def calibrate() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1200)
    x = rng.normal(size=(1200, 3)) + 2 * np.eye(3)[y]
    manifest = {"name": "toy", "task": "classification", "input_shape": [3], "classes": 3}
    with Client(ADDRESS, (HOME / "key").read_text().strip()) as client:
        dataset = client.datasets.upload(x=x[:1000], y=y[:1000], name="toy")
        model = client.models.upload(manifest)
        ended = client.calibrations.wait(client.calibrations.start(dataset.id, model.id, alpha=0.1, delta=0.05).id)
        assert ended.predictor_id, ended
        covered = float(np.mean(client.predict_set(ended.predictor_id, x[1000:]).contains(y[1000:])))
    print(json.dumps({"status": ended.status, "certificate": ended.certificate_id, "covered": round(covered, 3)}))
    assert covered > 0.8, covered


if __name__ == "__main__":
    sys.exit(main())
