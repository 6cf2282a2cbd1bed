"""Parquet files are read in a process of their own: a damaged footer can make the library abort, not merely fail.

What a stranger's file does to that process it cannot do to the service.
"""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from core.datasets.arrays import DatasetArrays
from core.datasets.limits import Limits
from core.errors import DataError

_SECONDS = 300.0


def read_parquet(file: Path, target: str, limits: Limits) -> DatasetArrays:
    asked = {"file": str(file), "target": target, "limits": asdict(limits)}
    with _child() as (questions, answers):
        with contextlib.suppress(BrokenPipeError):
            questions.write(json.dumps(asked).encode())
            questions.close()
        try:
            answer = json.loads(answers.readline())
            arrays = [_received(answers, dtype, shape) for dtype, shape in answer.get("arrays", [])]
        except (ValueError, EOFError):
            raise DataError(
                "The file is not a whole Parquet file, or asks for too much memory or time: it broke its reader."
            ) from None
    if "refused" in answer:
        raise DataError(answer["refused"])
    x, y = arrays
    return DatasetArrays(x, y)


@contextmanager
def _child() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Its standard input and output; it does not outlive the block, nor the time that it has."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "core.datasets.parquet_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    timer = threading.Timer(_SECONDS, process.kill)
    timer.start()
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdin, process.stdout
    finally:
        timer.cancel()
        process.kill()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        process.wait()


def _received(stream: IO[bytes], dtype: str, shape: list[int]) -> NDArray[Any]:
    array: NDArray[Any] = np.empty(shape, dtype=np.dtype(dtype))
    left = array.reshape(-1).data.cast("B")
    while left:
        count = stream.readinto(left)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        left = left[count:]
    return array
