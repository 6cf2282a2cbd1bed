"""MNIST's own file format: big-endian idx, compressed or not."""

import gzip
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.errors import CertisetError

_PREFIX = {"train": "train", "test": "t10k"}
_BYTES = 0x08
"""the idx code of unsigned bytes"""


class MnistError(CertisetError):
    """MNIST is missing or damaged; the message says why."""

    code = "mnist_unavailable"


def read_mnist(folder: Path, split: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Images (rows, 1, 28, 28) from 0 to 1, and labels, of a folder with the four files as they are published."""
    images = _read_idx(_find(folder, f"{_PREFIX[split]}-images-idx3-ubyte"), dimensions=3)
    labels = _read_idx(_find(folder, f"{_PREFIX[split]}-labels-idx1-ubyte"), dimensions=1)
    if len(images) != len(labels):
        raise MnistError(f"{folder} holds {len(images)} images, but {len(labels)} labels.")
    return (images[:, None] / np.float32(255)).astype(np.float32), labels.astype(np.int64)


def download_mnist(folder: Path) -> Path:
    """The folder in which torchvision has put the files; missing ones are downloaded."""
    from torchvision.datasets import MNIST  # noqa: PLC0415 (torch takes a second to load)

    try:
        MNIST(str(folder), train=True, download=True)
    except (OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        raise MnistError(f"MNIST cannot be downloaded: {reason}. If you have its files, use --folder DIR.") from None
    return folder / "MNIST" / "raw"


def _find(folder: Path, name: str) -> Path:
    for file in (folder / f"{name}.gz", folder / name):
        if file.is_file():
            return file
    raise MnistError(f"{folder} has neither {name}.gz nor {name}.")


def _read_idx(file: Path, dimensions: int) -> NDArray[Any]:
    try:
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        zero, kind, found, *shape = struct.unpack_from(f">HBB{dimensions}I", content)
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise MnistError(f"{file} cannot be read: {error}.") from None
    head = 4 + 4 * dimensions
    if (zero, kind, found) != (0, _BYTES, dimensions) or len(content) - head != int(np.prod(shape)):
        raise MnistError(f"{file} is not a complete idx file of {dimensions}-dimensional bytes.")
    return np.frombuffer(content, dtype=np.uint8, offset=head).reshape(shape)
