"""What the queue costs: many small calibrations through one worker, against the same fits called in a loop.

    python -m benchmarks.queue [--jobs 100] [--output FILE]

Prints one line and one JSON object for each kind of deployment that is there: the embedded default always; Redis with
PostgreSQL where CERTISET_BENCH_DATABASE_URL (an empty database) and CERTISET_BENCH_BROKER_URL are set. The overhead is
the time a job took in the worker minus the time of the bare fit, and is given in units of the bare fit, too.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from celery import Celery

from certiset.core.fit import fit
from certiset.core.jobs import add_dataset, add_model
from certiset.core.jobs.announcer import Announcer
from certiset.core.models import Model
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.migrate import migrate
from certiset.core.store.records import Calibration

OPTIONS: dict[str, Any] = {"prior": {"steps": 100}, "optimizer": {"steps": 50}, "members": 8}
MANIFEST = {"name": "logits", "task": "classification", "input_shape": [5], "classes": 5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    results = [measure("embedded", {}, options.jobs)]
    database, broker = (os.environ.get(f"CERTISET_BENCH_{name}_URL") for name in ("DATABASE", "BROKER"))
    if database and broker:
        results.append(measure("redis and postgresql", {"database_url": database, "broker_url": broker}, options.jobs))
    for result in results:
        print(
            f"{result['deployment']}: a job takes {result['job_ms']:.0f} ms, its fit alone {result['fit_ms']:.0f} ms; "
            f"overhead {result['overhead_ms']:.0f} ms, or {result['overhead_ratio']:.2f} of the fit; "
            f"the first job came {result['first_job_seconds']:.1f} s after the worker's start"
        )
    print(json.dumps(results))
    if options.output:
        options.output.write_text(json.dumps(results, indent=1) + "\n")


def measure(name: str, urls: dict[str, Any], jobs: int) -> dict[str, Any]:
    x, y = data()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder), threads=1, **urls)
        store, announcer = Store(settings), Announcer.connect(settings, Celery)
        migrate(store.database)
        file = Path(folder) / "data.npz"
        np.savez(file, x=x, y=y)
        dataset, _ = add_dataset(store, "bench", file, filename=file.name)
        model, _ = add_model(store, "bench", MANIFEST)
        bare = bare_seconds(x, y, jobs)
        started = time.monotonic()
        worker = subprocess.Popen(
            [sys.executable, "-m", "certiset.worker"],
            env={**os.environ, **settings.to_environment()},
            stderr=subprocess.DEVNULL,
        )
        try:
            warm = submit(store, announcer, dataset, model, jobs)
            first = wait(store, [warm]) - started
            begin = time.monotonic()
            made = [submit(store, announcer, dataset, model, seed) for seed in range(jobs)]
            seconds = (wait(store, made) - begin) / jobs
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
            announcer.close()
            store.close()
    return {
        "deployment": name,
        "jobs": jobs,
        "job_ms": 1000 * seconds,
        "fit_ms": 1000 * bare,
        "overhead_ms": 1000 * (seconds - bare),
        "overhead_ratio": (seconds - bare) / bare,
        "first_job_seconds": first,
    }


def data() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    y = random.integers(5, size=1000)
    return (random.normal(size=(1000, 5)) + 2 * np.eye(5)[y]).astype(np.float32), y


def bare_seconds(x: Any, y: Any, jobs: int) -> float:
    torch.set_num_threads(1)
    model = Model.from_manifest(MANIFEST)
    fit(model, x, y, **OPTIONS, seed=jobs)
    times = []
    for seed in range(jobs):
        begin = time.monotonic()
        fit(model, x, y, **OPTIONS, seed=seed)
        times.append(time.monotonic() - begin)
    return statistics.mean(times)


def submit(store: Store, announcer: Announcer, dataset: Any, model: Any, seed: int) -> Calibration:
    with store.writing() as work:
        made = work.calibrations.create(dataset, model, {**OPTIONS, "seed": seed})
    announcer.announce(made.id)
    return made


def wait(store: Store, jobs: list[Calibration]) -> float:
    """When the last one had succeeded."""
    waiting = [job.id for job in jobs]
    while waiting:
        with store.reading() as work:
            found = work.calibrations.find(waiting[-1])
        assert found is not None
        if found.status == "failed":
            raise SystemExit(f"a calibration failed: {found.error}")
        if found.status == "succeeded":
            waiting.pop()
        else:
            time.sleep(0.01)
    return time.monotonic()


if __name__ == "__main__":
    main()
