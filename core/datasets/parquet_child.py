"""The other side of `core.datasets.parquet_process`: reads one file, within limits, and sends its arrays."""

import json
import sys
from pathlib import Path

import numpy as np

from core.confining import confine
from core.datasets.limits import MORE_MEMORY, Limits
from core.datasets.parquet_file import parse_parquet
from core.errors import DataError

_SECONDS = 600
_ROOM = 4 * 2**30
"""for the library itself, beside three copies of what is read"""


def main() -> None:
    asked = json.load(sys.stdin)
    limits = Limits(**asked["limits"])
    confine(_ROOM + 3 * limits.unpacked_bytes, _SECONDS)
    output = sys.stdout.buffer
    try:
        found = parse_parquet(Path(asked["file"]), asked["target"], limits)
    except (DataError, MemoryError) as error:
        refused = str(error) if isinstance(error, DataError) else MORE_MEMORY
        output.write(json.dumps({"refused": refused}).encode() + b"\n")
        return
    arrays = [np.ascontiguousarray(array) for array in (found.x, found.y)]
    output.write(json.dumps({"arrays": [(array.dtype.str, array.shape) for array in arrays]}).encode() + b"\n")
    for array in arrays:
        output.write(array.reshape(-1).data.cast("B"))


if __name__ == "__main__":
    main()
