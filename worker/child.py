"""The worker's end of a fitting process: started afresh, fed one job at a time, killed when it will not stop."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from typing import IO, Any

from worker.devices import Slot
from worker.protocol import Job, line


class ChildDiedError(Exception):
    """The fitting process ended without an answer; the message says how."""


class FittingChild:
    def __init__(self, slot: Slot) -> None:
        self.jobs = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "worker.fitting"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **slot.environment},
            # A Ctrl-C meant for the worker must not reach the fit before the worker has put the job back.
            start_new_session=True,
        )
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def start(self, job: Job) -> None:
        self.jobs += 1
        self._write(line("job", job))

    def ask_to_stop(self, attempt: str) -> None:
        with contextlib.suppress(ChildDiedError):
            self._write(line("stop", attempt))

    def answer(self, wait: float) -> dict[str, Any] | None:
        """The next message, or None if there was none within that time."""
        try:
            message = self._answers.get(timeout=max(wait, 0.001))
        except queue.Empty:
            return None
        if message is None:
            raise ChildDiedError(self._cause())
        return message

    def kill(self) -> None:
        """Also what it may have started itself."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(ValueError, OSError):
            for text in stream:
                self._answers.put(json.loads(text))
        self._answers.put(None)

    def _write(self, content: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(content)
            self._process.stdin.flush()
        except OSError:
            raise ChildDiedError(self._cause()) from None

    def _cause(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "The fitting process closed its output and hangs."
        if code == -signal.SIGKILL:
            return "The fitting process was killed, most likely because memory ran out."
        if code < 0:
            return f"The fitting process was ended by {signal.Signals(-code).name}."
        return f"The fitting process ended with exit code {code}."
