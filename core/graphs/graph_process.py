"""The owner's handle on one confined process with one graph. Nothing that it answers is taken on trust."""

import contextlib
import json
import math
import os
import select
import signal
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.confinement import Confinement
from certiset.core.errors import ModelError
from certiset.core.graphs.row_proof.verdict import NOTHING_YET, RowProof
from certiset.core.graphs.shared_memory import SharedMemory
from certiset.core.sandbox import Process, SandboxError

_SERVER = "certiset.core.graphs.server"
_LONGEST_ANSWER = 2**16
_FIRST_OUTPUT = 2**16
_FLOATS = ("<f2", "<f4", "<f8")
_MOST_DIMENSIONS = 16


@dataclass(frozen=True)
class GraphLimits:
    memory: int = 2 * 2**30
    """bytes of address space"""
    seconds: float = 10.0
    """for one call"""
    start_seconds: float = 60.0
    """for loading"""
    largest_output: int = 2**28
    """bytes of one call"""
    threads: int = 0
    """0: as many as there are cores"""
    niceness: int = 5
    """so that a graph at full speed does not slow down the processes that serve everybody"""


class GraphProcess:
    """Used by one thread at a time. A `SandboxError` is the end of it: the process is gone."""

    def __init__(self, content: bytes, limits: GraphLimits) -> None:
        self._limits = limits
        self._inputs, self._outputs = SharedMemory(), SharedMemory()
        # It writes to memory that is given to it and to nothing else, not even to an anonymous file of its own.
        confinement = Confinement(memory=limits.memory, largest_file=0, niceness=limits.niceness)
        descriptors = (self._inputs.descriptor, self._outputs.descriptor)
        self._process = Process(_SERVER, confinement, quiet=True, descriptors=descriptors)
        self._rest = b""
        self.row_proof = NOTHING_YET
        try:
            self._inputs.write(content)
            self._outputs.reserve(_FIRST_OUTPUT)
            start = {"input": descriptors[0], "output": descriptors[1], "bytes": len(content)}
            self._ask({**start, "threads": limits.threads}, limits.start_seconds)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        return self._process.alive

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        self._inputs.write(x)
        answer = self._ask({"dtype": x.dtype.str, "shape": x.shape}, self._limits.seconds)
        if "needs" in answer:
            needed = answer["needs"]
            if type(needed) is not int or not 0 <= needed <= self._limits.largest_output:
                self.close()
                raise ModelError(f"The ONNX model's output is larger than {self._limits.largest_output:,} bytes.")
            self._outputs.reserve(needed)
            answer = self._ask({}, self._limits.seconds)
        dtype, shape = answer.get("dtype"), _shape(answer.get("shape"), len(x))
        if shape is None or dtype not in _FLOATS:
            raise self._end("gave an answer that makes no sense")
        kind = np.dtype(dtype)
        if kind.itemsize * math.prod(shape) > self._outputs.size:
            raise self._end("gave an answer that makes no sense")
        self.row_proof = RowProof.told(answer.get("proved"), answer.get("reason"))
        return self._outputs.read(kind, shape)

    def kill(self) -> None:
        """From any thread; whoever is waiting for an answer gets a `SandboxError`."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        self._process.kill()
        for memory in (self._inputs, self._outputs):
            with contextlib.suppress(OSError):
                memory.close()

    def _ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            answer = json.loads(self._line(time.monotonic() + seconds))
        except TimeoutError:
            raise self._end(f"took longer than {seconds:g} seconds") from None
        except (OSError, ValueError, RecursionError):
            raise self._end(self._process.cause_of_death()) from None
        if not isinstance(answer, dict):
            raise self._end("gave an answer that makes no sense")
        if "error" in answer:
            raise ModelError(str(answer["error"])[:500])
        return answer

    def _line(self, deadline: float) -> bytes:
        """One line, read without waiting beyond the deadline: a buffered reader would."""
        source = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(source, select.POLLIN)
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not poll.poll(1000 * left):
                raise TimeoutError
            piece = os.read(source, _LONGEST_ANSWER)
            if not piece or len(self._rest) > _LONGEST_ANSWER:
                raise OSError
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _end(self, how: str) -> SandboxError:
        self.close()
        return SandboxError(how)


def _shape(told: Any, rows: int) -> tuple[int, ...] | None:
    if not isinstance(told, list) or not 0 < len(told) <= _MOST_DIMENSIONS:
        return None
    if any(type(side) is not int or side < 0 for side in told) or told[0] != rows:
        return None
    return tuple(told)
