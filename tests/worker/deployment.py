"""A deployment for one test: a database, a broker, files, and workers that are real processes."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from celery import Celery

from certiset.core.fit import fit
from certiset.core.jobs import add_dataset, add_model
from certiset.core.jobs.announcer import Announcer
from certiset.core.resources import FINISHED
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.garbage import orphans
from certiset.core.store.migrate import migrate
from certiset.core.store.records import Calibration, Dataset
from certiset.core.store.schema import is_current
from tests.core.fit.problems import QUICK, toy_data, toy_model
from tests.databases import create_sqlite
from tests.forks import Forked
from tests.launcher import confined_by_forking, launch
from tests.servers import children_of, wait_until

TENANT = "ada"
J = TypeVar("J", Calibration, BatchRecord)
PATIENCE = 120.0
FAST: dict[str, Any] = {
    "lease_seconds": 2.0,
    "sweep_seconds": 0.2,
    "message_seconds": 2.0,
    "retry_seconds": 0.1,
    "threads": 1,
}

LONG: dict[str, Any] = {"method": "learned", "prior": {"steps": 700}, "optimizer": {"steps": 30}, "members": 4}
"""a fit of a second or two"""
ENDLESS: dict[str, Any] = {"method": "learned", "prior": {"steps": 1_000_000}, "members": 4}
"""a fit that no test waits for"""


@dataclass
class Deployment:
    settings: Settings
    log: Path
    workers: list[Forked] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.settings.embedded_database:
            create_sqlite(self.settings)
        self.store = Store(self.settings)
        if not is_current(self.store.database):
            migrate(self.store.database)
        self.announcer = Announcer.connect(self.settings, Celery)
        x, y = toy_data(400, seed=0)
        file = self.log.parent / "data.npz"
        np.savez(file, x=x, y=y)
        with confined_by_forking():
            self.dataset, _ = add_dataset(self.store, TENANT, file, filename=file.name)
        model = toy_model()
        self.model, _ = add_model(self.store, TENANT, model.manifest, model.tensors())

    def submit(
        self, options: dict[str, Any] = QUICK, *, announce: bool = True, tenant: str = TENANT, **values: Any
    ) -> Calibration:
        with self.store.writing() as work:
            made = work.calibrations.create(self.dataset, self.model, {**options, **values})
            made.tenant = tenant
        if announce:
            self.announcer.announce(made.id)
        return made

    def start_worker(self, **settings: Any) -> Forked:
        with self.log.open("ab") as log:
            worker = launch(
                "certiset.worker",
                env={
                    **os.environ,
                    **self.settings.to_environment(),
                    **{k.upper(): str(v) for k, v in settings.items()},
                },
                stdout=log,
                stderr=subprocess.STDOUT,
                # A folder with nothing of ours in it: what is installed is what runs.
                cwd=self.log.parent,
                forking=True,
            )
        self.workers.append(worker)
        return worker

    def submit_batch(self, predictor_id: str, dataset: Dataset, *, announce: bool = True) -> BatchRecord:
        with self.store.writing() as work:
            predictor = work.predictors.get(dataset.tenant, predictor_id)
            made = work.batches.create(predictor, dataset, {"alpha": None, "cases": None})
        if announce:
            self.announcer.announce(made.id)
        return made

    def state(self, job: J) -> J:
        with self.store.reading() as work:
            found = work.session.get(type(job), job.id)
        assert found is not None
        return found

    def wait(self, calibration: J, status: str | None = None, seconds: float = PATIENCE) -> J:
        """Until it has that status, or has ended."""
        wanted = (status,) if status else FINISHED
        try:
            wait_until(lambda: self.state(calibration).status in wanted, seconds, f"{wanted} of {calibration.id}")
        except AssertionError as error:
            found = self.state(calibration)
            tail = self.log.read_text()[-3000:] if self.log.exists() else ""
            raise AssertionError(f"{error}; it is {found.status}, {found.error}, and the workers say\n{tail}") from None
        return self.state(calibration)

    def wait_until_fitting(self, calibration: J) -> None:
        """Until the first report of an attempt has come."""
        self.wait(calibration, "running")
        wait_until(lambda: self.state(calibration).progress is not None, PATIENCE, "a first report")

    def stop_workers(self) -> None:
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            worker.wait(timeout=PATIENCE)
        self.workers.clear()

    def close(self) -> None:
        for worker in self.workers:
            kill(worker.pid, *children_of(worker.pid))
            worker.wait()
        self.announcer.close()
        self.store.close()

    def cancel_everything(self) -> None:
        with self.store.writing() as work:
            left = [job for job in work.calibrations.list(TENANT, limit=1000).items if job.status not in FINISHED]
            for job in left:
                work.calibrations.cancel(job.id)
        for job in left:
            self.wait(job)

    @property
    def predictors(self) -> int:
        with self.store.reading() as work:
            return len(work.predictors.list(TENANT, limit=1000).items)

    def assert_nothing_left_over(self, predictors: int) -> None:
        assert self.predictors == predictors
        with self.store.reading() as work:
            assert len(work.certificates.list(TENANT, limit=1000).items) == predictors
        # A writer killed half way leaves a temporary file, which the sweeper removes with age; named ones never.
        assert [file for file in orphans(self.store, older_than=-60) if file.sha256 is not None] == []


@contextlib.contextmanager
def deployed(folder: Path, **settings: Any) -> Iterator[Deployment]:
    """With these settings, and those of an embedded deployment in that folder for the rest."""
    made = Deployment(Settings(home=folder / "home", **{**FAST, **settings}), folder / "worker.log")
    try:
        yield made
    finally:
        made.close()


def undisturbed_digest(options: dict[str, Any], **values: Any) -> str:
    """What a fit in this process, with no worker at all, certifies."""
    x, y = toy_data(400, seed=0)
    return fit(toy_model(), x, y, **{**options, **values}).certificate.digest


def digest_of(deployment: Deployment, calibration: Calibration) -> str:
    with deployment.store.reading() as work:
        assert calibration.certificate_id is not None
        return work.certificates.get(TENANT, calibration.certificate_id).digest


def kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    """Running, and not merely waiting for its parent to notice that it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@contextlib.contextmanager
def every(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """Does something again and again, in a thread, while the block runs."""
    done = threading.Event()

    def loop() -> None:
        while not done.wait(seconds):
            action()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def seconds_of(action: Callable[[], object]) -> float:
    start = time.monotonic()
    action()
    return time.monotonic() - start
