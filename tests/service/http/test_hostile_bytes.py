"""Bytes of strangers that lie: .npz bodies of predictions, and weights of a few kilobytes.

Whatever they claim, the answer is a problem that says what is wrong, and no memory goes beyond what was sent.
"""

import io
import json
import struct
import zipfile
import zlib
from typing import Any

import httpx
import numpy as np
import pytest
from safetensors.numpy import save

from tests.servers import most_memory
from tests.service.server import Server

NPZ = {"Content-Type": "application/x-npz"}
MEMORY = 50 * 2**20


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED, **further: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, array in {"x": content, **further}.items():
            archive.writestr(f"{name}.npy", array)
    return stream.getvalue()


def npy(shape: str, content: bytes = b"", kind: str = "<f8") -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(118) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + content


def bomb(shape: str, claimed: int) -> bytes:
    """A gigabyte of zeros behind a header."""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = pack.compress(npy(shape)) + pack.flush(zlib.Z_FULL_FLUSH)
    # After a full flush, the same bytes are packed in the same way again.
    zeros = pack.compress(bytes(2**24)) + pack.flush(zlib.Z_FULL_FLUSH)
    return by_hand(head + 64 * zeros + pack.flush(), claimed)


def by_hand(packed: bytes, size: int, *, entries: int = 1, flags: int = 0) -> bytes:
    """A zip with one deflated file, and as many entries for it in the directory as are wanted."""
    what = (flags, 8, 0, 33, 0, len(packed), size, 5, 0)
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, *what) + b"x.npy" + packed
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, *what, 0, 0, 0, 0, 0) + b"x.npy"
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *[entries % 2**16] * 2, len(entry) * entries, len(local), 0)
    return local + entry * entries + end


def objects() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, x=np.array([{"a": 1}, 2], dtype=object))
    return stream.getvalue()


BODIES = {
    "nothing": b"",
    "a zip that is cut": zipped(npy("(2, 1)", bytes(16)))[:-10],
    "a zip that is cut in its content": zipped(npy("(2, 1)", bytes(16)))[:60],
    "a bomb": bomb(f"({2**27}, 1)", 128 + 2**30),
    "a bomb that claims to be small": bomb(f"({2**27}, 1)", 1000),
    "a bomb behind a small array": bomb("(2, 1)", 128 + 16),
    "objects": objects(),
    "objects by the header": zipped(npy("(2, 1)", bytes(16), kind="|O")),
    "a negative shape": zipped(npy("(-1, 1)", bytes(16))),
    "two negative sides": zipped(npy("(-2, -1)", bytes(16))),
    "a billion numbers": zipped(npy("(1000000000, 1)", bytes(16))),
    "a shape beyond any memory": zipped(npy("(4611686018427387904, 4)", bytes(16))),
    "a side that is no number": zipped(npy("(2.5, 1)", bytes(16))),
    "a header of code": zipped(npy("__import__('os')", bytes(16))),
    "a header of parentheses": zipped(npy("(" * 50, bytes(16))),
    "encrypted": by_hand(b"x" * 100, 100, flags=1),
    "compressed in another way": zipped(npy("(2, 1)", bytes(16)), zipfile.ZIP_LZMA),
    "many names": by_hand(b"", 0, entries=75_000),
    "names without letters": zipped(npy("(2, 1)", bytes(16)), column_names=npy(f"({2**26},)", kind="<U0")),
    "names without bytes": zipped(npy("(2, 1)", bytes(16)), column_names=npy(f"({2**46},)", kind="|S0")),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_lies_is_refused_without_memory(server: Server, ada: httpx.Client, name: str) -> None:
    asked = {"predictor": server.id("regression")}
    assert len(BODIES[name]) < 4_000_000
    with most_memory(server.process.pid) as grown:
        answer = ada.post("/predict_set", params=asked, content=BODIES[name], headers=NPZ)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].endswith(".")
    assert grown[0] < MEMORY


def test_a_body_of_very_many_names_is_refused_before_they_are_listed(server: Server, ada: httpx.Client) -> None:
    answer = ada.post("/predict_set?predictor=pred-1", content=BODIES["many names"], headers=NPZ)
    assert answer.json()["detail"] == "An .npz body may hold at most 1,000 arrays."


HEAD = {"name": "small", "task": "regression", "input_shape": [4], "head": {"kind": "mlp", "widths": [4, 1]}}
RIGHT = {"head.0.weight": np.ones((1, 4), dtype=np.float32), "head.0.bias": np.zeros(1, dtype=np.float32)}


def weights(
    shape: Any, offsets: Any, kind: str = "F32", length: int | None = None, content: bytes = bytes(20)
) -> bytes:
    bias = {"dtype": "F32", "shape": [1], "data_offsets": [16, 20]}
    told = {"head.0.weight": {"dtype": kind, "shape": shape, "data_offsets": offsets}, "head.0.bias": bias}
    head = json.dumps(told).encode()
    return struct.pack("<Q", len(head) if length is None else length) + head + content


WEIGHTS = {
    "nothing": b"",
    "a pickle": b"\x80\x04K\x01.",
    "a zip": zipped(npy("(2, 1)", bytes(16))),
    "cut in the header": save(RIGHT)[:40],
    "cut in the content": save(RIGHT)[:-4],
    "a header without end": weights([1, 4], [0, 16], length=2**62),
    "a header of half of memory": weights([1, 4], [0, 16], length=2**32),
    "a billion numbers": weights([10**9, 1], [0, 16]),
    "a billion numbers by their place": weights([10**9, 1], [0, 4 * 10**9]),
    "a shape beyond any memory": weights([2**62, 4], [0, 16]),
    "a negative shape": weights([-1, -4], [0, 16]),
    "a place before the file": weights([1, 4], [-16, 0]),
    "a place that runs backwards": weights([1, 4], [16, 0]),
    "objects": weights([1, 4], [0, 16], kind="PyObject"),
    "deep": struct.pack("<Q", 60_000) + b"[" * 60_000,
    "not UTF-8": struct.pack("<Q", 4) + b"\xff" * 4,
    "numbers that are none": save({**RIGHT, "head.0.bias": np.full(1, np.nan, dtype=np.float32)}),
    "other shapes": save({**RIGHT, "head.0.weight": np.ones((4, 4), dtype=np.float32)}),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_small_weights_that_lie_are_refused_without_memory(server: Server, ada: httpx.Client, name: str) -> None:
    assert len(WEIGHTS[name]) <= 2**16, "larger ones are always read in a process of their own"
    files: dict[str, Any] = {"manifest": (None, json.dumps(HEAD)), "weights": ("w.safetensors", WEIGHTS[name])}
    with most_memory(server.process.pid) as grown:
        answer = ada.post("/models", files=files)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["where"] == "weights"
    assert grown[0] < MEMORY


def test_a_manifest_that_asks_for_more_than_its_weights_hold_is_refused_without_memory(
    server: Server, ada: httpx.Client
) -> None:
    for widths in ([4, 10**9, 1], [4, 2**31, 2**31, 1], [4, *[10**4] * 50, 1]):
        manifest = {**HEAD, "head": {"kind": "mlp", "widths": widths}}
        files: dict[str, Any] = {"manifest": (None, json.dumps(manifest)), "weights": ("w.safetensors", save(RIGHT))}
        with most_memory(server.process.pid) as grown:
            answer = ada.post("/models", files=files)
        assert answer.status_code == 422, answer.text
        assert grown[0] < MEMORY


def test_what_does_not_lie_is_accepted(server: Server, ada: httpx.Client) -> None:
    body = zipped(npy("(2, 1)", bytes(16)))
    answer = ada.post("/predict_set", params={"predictor": server.id("regression")}, content=body, headers=NPZ)
    assert answer.status_code == 200
    files: dict[str, Any] = {
        "manifest": (None, json.dumps(HEAD)),
        "weights": ("w.safetensors", weights([1, 4], [0, 16])),
    }
    assert ada.post("/models", files=files).status_code == 201
