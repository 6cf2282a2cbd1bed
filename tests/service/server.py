"""A real server for tests: `certiset api` as a process, with a predictor of each task and keys of two tenants."""

import contextlib
import hashlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from certiset.core.certificate.signing import Signer
from certiset.core.data import DatasetArrays
from certiset.core.fit import Predictor, fit
from certiset.core.jobs import add_model
from certiset.core.jobs.fit_results import fit_result
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.identifiers import new_id
from certiset.core.store.records import Calibration, Dataset
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.secret import derive, read_secret
from tests.core.fit.problems import (
    QUICK,
    STEPS_PAY,
    class_data,
    class_model,
    shifted_logits,
    shifted_logits_model,
    toy_data,
    toy_model,
)
from tests.databases import create_sqlite
from tests.forks import Forked
from tests.launcher import launch
from tests.servers import answers, free_port, wait_until


@dataclass
class Server:
    settings: Settings
    port: int
    process: Forked
    keys: dict[str, str]
    """by name: ada (everything of hers), reader (ada's, read only), writer (ada's, no admin), eve (another tenant),
    operator (nobody's data)"""
    predictors: dict[str, Predictor]
    """by task, as the server has them"""
    calibrations: dict[str, Calibration]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, who: str | None = "ada", **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.keys[who]}"} if who else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, verify=False, **options)

    def id(self, task: str) -> str:
        return self.predictors[task].certificate.predictor_id

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


def start_server(home: Path, **settings: Any) -> Server:
    chosen = Settings(home=home, **settings)
    if chosen.embedded_database:
        create_sqlite(chosen)
    store = Store.ready(chosen)
    ring = KeyRing(store, derive(read_secret(chosen.secret), "api keys"))
    keys = {
        name: ring.create(tenant=tenant, name=name, scopes=scopes)[1]
        for name, tenant, scopes in (
            ("ada", "ada", ["read", "write", "admin"]),
            ("reader", "ada", ["read"]),
            ("writer", "ada", ["read", "write"]),
            ("eve", "eve", ["read", "write", "admin"]),
            ("operator", "default", ["operator"]),
        )
    }
    predictors = dict(_predictors())
    calibrations = {task: enter_predictor(store, predictor) for task, predictor in predictors.items()}
    store.close()
    port = free_port()
    log = (home / "api.log").open("wb")
    with log:
        process = launch(
            *("certiset", "api", "--port", str(port), "--home", str(home)),
            env={**os.environ, **_environment(settings)},
            stdout=log,
            stderr=subprocess.STDOUT,
            forking=True,
        )
    server = Server(chosen, port, process, keys, predictors, calibrations)

    def up() -> bool:
        assert process.poll() is None, (home / "api.log").read_text()
        return answers(server.url)

    wait_until(up, 180, "the server")
    return server


@lru_cache
def _predictors() -> dict[str, Predictor]:
    """By task; the same for every server of a test process."""
    options = {**QUICK, "prior": {"steps": 30}}
    made = {
        "classification": fit(class_model(), *class_data(600, 0), **options),
        "regression": fit(toy_model(), *toy_data(600, 0), **options),
        "pool": fit(shifted_logits_model(), *shifted_logits(3000, 8), **STEPS_PAY),
        "doomed": fit(class_model(), *class_data(600, 1), **options),
    }
    return made | {"mean": certified_in_the_mean(made["pool"])}


def _environment(settings: dict[str, Any]) -> dict[str, str]:
    return {f"CERTISET_{name.upper()}": str(value) for name, value in settings.items()}


@contextlib.contextmanager
def processes_of(home: Path, port: int, **settings: Any) -> Iterator[None]:
    """An API and a worker on a folder, whatever it holds."""
    environment = {**os.environ, **_environment({"home": home, "threads": 1, **settings})}
    started: list[Forked] = []
    log = home / "processes.log"
    try:
        with log.open("wb") as stream:
            for arguments in (["certiset", "api", "--port", str(port)], ["certiset.worker"]):
                options = {"cwd": home.parent, "stdout": stream, "stderr": subprocess.STDOUT, "forking": True}
                started.append(launch(*arguments, env=environment, **options))
                # One after the other: the first one migrates.
                wait_until(lambda: answers(f"http://127.0.0.1:{port}"), 180, f"the server: {log.read_text()}")
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(timeout=30)


@contextlib.contextmanager
def replica_of(server: Server, **settings: Any) -> Iterator[tuple[Forked, str]]:
    """Another API process of the same deployment, and its address."""
    port = free_port()
    process = launch(
        *("certiset", "api", "--port", str(port), "--home", str(server.settings.home)),
        env={**os.environ, **_environment(settings)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        forking=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: answers(url), 180, "the replica")
        yield process, url
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def server_with_worker(home: Path, **settings: Any) -> Iterator[Server]:
    """The server, and a worker that fits what it is sent."""
    server = start_server(home, **settings)
    worker = launch(
        "certiset.worker",
        env={**os.environ, **_environment(settings), "CERTISET_HOME": str(home), "CERTISET_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        forking=True,
    )
    try:
        yield server
    finally:
        worker.terminate()
        server.stop()
        worker.wait(timeout=30)


def certified_in_the_mean(predictor: Predictor) -> Predictor:
    """The same members, as if only their mean had been promised anything."""
    certificate = predictor.certificate
    coverage = replace(certificate.coverage, guarantee="posterior", bound="chernoff", pool_miscoverage_bound=0.12)
    changed = replace(certificate, coverage=coverage, predictor_id=f"pred-{'0' * 20}")
    return replace(predictor, certificate=replace(changed, id=changed.digest_id))


def enter_predictor(store: Store, predictor: Predictor, tenant: str = "ada") -> Calibration:
    """As a worker would."""
    certificate = Signer.from_file_or_new(store.settings.signing_key).sign(predictor.certificate)
    random = np.random.default_rng(int(certificate.digest[:8], 16))
    manifest = predictor.scorer.model.manifest
    y = random.integers(3, size=50) if manifest.task == "classification" else random.normal(size=50)
    arrays = DatasetArrays.checked(random.normal(size=(50, *manifest.input_shape)), y)
    model, _ = add_model(store, tenant, predictor.scorer.model.manifest, predictor.scorer.model.tensors())
    with store.writing() as work:
        made = as_dataset(store, tenant, arrays)
        dataset = work.datasets.of_content(tenant, made.sha256, made.target) or work.datasets.add(made)
        calibration = work.calibrations.create(dataset, model, {})
        claim = work.leases.claim(calibration.id)
        assert claim is not None
        assert work.leases.succeed(claim, fit_result(predictor, store.artifacts, certificate))
    return calibration


def as_dataset(store: Store, tenant: str, arrays: DatasetArrays) -> Dataset:
    """As an upload would make it, without the process that reads the file."""
    content = arrays.to_bytes()
    return Dataset(
        id=new_id("ds"),
        tenant=tenant,
        name="data",
        sha256=hashlib.sha256(content).hexdigest(),
        target="y",
        artifact=store.artifacts.put(content),
        rows=len(arrays.x),
        x_shape=list(arrays.x.shape[1:]),
        y_kind=arrays.y_kind,
        bytes=len(content),
        stored_bytes=len(content),
    )
