"""The worker's handle on a fitting process: spawned, given one job at a time, killed if it does not stop."""

import contextlib
import json
import os
import queue
import threading
from pathlib import Path
from typing import Any

from certiset.core.confinement import Confinement
from certiset.core.fit_environment import fit_environment, store_files
from certiset.core.sandbox import Process
from certiset.core.store.artifacts import local_folder
from certiset.worker.devices import Slot
from certiset.worker.protocol import Job, line

_RUNNER = "certiset.worker.fit_runner"


class ProcessEndedError(Exception):
    """The fitting process ended without an answer; the message says how."""


class FittingProcess:
    def __init__(self, slot: Slot, artifacts_url: str, scratch: Path) -> None:
        self.jobs = 0
        folder = local_folder(artifacts_url)
        environment = {**fit_environment(os.environ, store_elsewhere=folder is None), **slot.environment}
        self._process = Process(_RUNNER, _confinement(folder, scratch), environment=environment)
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    def start(self, job: Job) -> None:
        self.jobs += 1
        self._write(line(job.kind, job))

    def ask_to_stop(self, attempt: str) -> None:
        with contextlib.suppress(ProcessEndedError):
            self._write(line("stop", attempt))

    def answer(self, wait: float) -> dict[str, Any] | None:
        """The next message, or None if there was none within that time."""
        try:
            message = self._answers.get(timeout=max(wait, 0.001))
        except queue.Empty:
            return None
        if message is None:
            raise self._ended()
        return message

    def kill(self) -> None:
        """Kills it and all processes that it has started."""
        self._process.kill()

    def _read(self) -> None:
        with contextlib.suppress(ValueError, OSError):
            for text in self._process.stdout:
                self._answers.put(json.loads(text))
        self._answers.put(None)

    def _write(self, content: bytes) -> None:
        try:
            self._process.stdin.write(content)
            self._process.stdin.flush()
        except (OSError, ValueError):
            # A stream that another thread closed when it killed the process is a ValueError.
            raise self._ended() from None

    def _ended(self) -> ProcessEndedError:
        return ProcessEndedError(f"The fitting process {self._process.cause_of_death()}.")


def _confinement(folder: Path | None, scratch: Path) -> Confinement:
    """Artifacts, devices and, for a store elsewhere, the network and its credentials; no other key, and no database."""
    scratch.mkdir(parents=True, exist_ok=True)
    if folder is None:
        readable = store_files(os.environ)
        return Confinement(devices=True, network=True, readable=readable, writable=(str(scratch),))
    folder.mkdir(parents=True, exist_ok=True)
    return Confinement(devices=True, writable=(str(folder), str(scratch)))


class FittingProcesses:
    """One process per device, reused so that its libraries are already loaded."""

    def __init__(self, jobs_each: int, artifacts_url: str, scratch: Path) -> None:
        """After ``jobs_each`` jobs a new process takes over, so that leaks cannot accumulate."""
        self._jobs_each, self._artifacts_url, self._scratch = jobs_each, artifacts_url, scratch
        self._by_slot: dict[str, FittingProcess] = {}

    def get(self, slot: Slot) -> FittingProcess:
        """The device's process; a new one is started if there is none that can take another job."""
        process = self._by_slot.get(slot.name)
        if process is None or not process.alive or process.jobs >= self._jobs_each:
            self.drop(slot)
            process = self._by_slot[slot.name] = FittingProcess(slot, self._artifacts_url, self._scratch)
        return process

    def drop(self, slot: Slot) -> None:
        process = self._by_slot.pop(slot.name, None)
        if process is not None:
            process.kill()

    def kill(self, slot: Slot) -> None:
        """Called from another thread than the one that uses the process, which will notice."""
        process = self._by_slot.get(slot.name)
        if process is not None:
            process.kill()

    def close(self) -> None:
        for process in list(self._by_slot.values()):
            process.kill()
