"""The same small dataset as a file of any format."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from certiset.core.data import DatasetArrays, read_dataset

X = np.array([[0.5, -1.25], [1e-3, 2.0], [7.0, 3.5]])
Y = np.array([0, 2, 1])


def npz(x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
    stream = io.BytesIO()
    arrays: dict[str, Any] = {"x": x, target: y}
    np.savez(stream, **arrays)
    return stream.getvalue()


def csv(x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
    rows = [",".join(map(repr, [*map(float, inputs), truth.item()])) for inputs, truth in zip(x, y, strict=True)]
    return ("\n".join([f"a,b,{target}", *rows]) + "\n").encode()


def parquet(x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], target: y}), stream)
    return stream.getvalue()


def json_records(x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
    rows = [{"a": a, "b": b, target: int(truth)} for (a, b), truth in zip(x.tolist(), y, strict=True)]
    # JSON has no infinity, but a number that becomes one.
    return json.dumps(rows).replace("Infinity", "1e999").encode()


def json_arrays(x: NDArray[Any], y: NDArray[Any], target: str) -> bytes:
    return json.dumps({"x": x.tolist(), target: y.tolist()}).replace("Infinity", "1e999").encode()


CONTENT: dict[str, Callable[[NDArray[Any], NDArray[Any], str], bytes]] = {
    ".npz": npz,
    ".csv": csv,
    ".parquet": parquet,
    ".json": json_records,
}


def write(folder: Path, suffix: str, x: Any = X, y: Any = Y, target: str = "y") -> Path:
    file = folder / f"data{suffix}"
    file.write_bytes(CONTENT[suffix](x, y, target))
    return file


def read(file: Path, **options: Any) -> DatasetArrays:
    return read_dataset(file, file.name, **options)
