"""Sets for a file of many rows against the bare loop: ``python -m benchmarks.many_rows [--rows 10000000]``.

One thread. The bare loop reads the same batches of the same Parquet file, computes the outputs and writes nothing.
Each part runs in a process of its own, once for a tenth of the rows and once for all of them: memory that stays the
same has the same peak in both.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FEATURES, HIDDEN, CLASSES = 16, 64, 10
ROWS = 300_000
PIECE = 100_000


def prepare(folder: Path, rows: int) -> None:
    """A saved predictor, and files with a tenth of the rows and all of them."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    from certiset import Model, fit  # noqa: PLC0415

    rng = np.random.default_rng(0)
    head = {"kind": "mlp", "widths": [FEATURES, HIDDEN, CLASSES], "activation": "relu"}
    manifest = {"task": "classification", "classes": CLASSES, "input_shape": [FEATURES], "head": head}
    weights = {
        "head.0.weight": rng.normal(size=(HIDDEN, FEATURES)) / 4,
        "head.0.bias": np.zeros(HIDDEN),
        "head.1.weight": rng.normal(size=(CLASSES, HIDDEN)) / 4,
        "head.1.bias": np.zeros(CLASSES),
    }
    x, y = rng.normal(size=(1000, FEATURES)), rng.integers(CLASSES, size=1000)
    fit(Model.from_manifest(manifest, weights), x, y, method="standard").save(folder / "saved")
    for name, count in (("few", rows // 10), ("many", rows)):
        kind = pa.list_(pa.float32(), FEATURES)
        with pq.ParquetWriter(folder / f"{name}.parquet", pa.schema([("x", kind)])) as writer:
            for start in range(0, count, PIECE):
                numbers = rng.normal(size=(min(PIECE, count - start), FEATURES)).astype(np.float32)
                column = pa.FixedSizeListArray.from_arrays(pa.array(numbers.reshape(-1)), FEATURES)
                writer.write_table(pa.table({"x": column.cast(kind)}))


def run(part: str, folder: Path, name: str) -> dict[str, float]:
    """One part, in this process: seconds, and the largest memory in bytes."""
    import torch  # noqa: PLC0415

    from certiset.batch import SetPredictor, predict_file  # noqa: PLC0415
    from certiset.core.batch.set_predictor import from_arrow  # noqa: PLC0415
    from certiset.core.batch.table_files import rows_at_once  # noqa: PLC0415
    from certiset.core.batch.table_formats import TABLE_FORMATS  # noqa: PLC0415

    torch.set_num_threads(1)
    sets = SetPredictor(folder / "saved", keep=[])
    model, made = sets.predictor.scorer.model, sets.predictor
    source = folder / f"{name}.parquet"
    begin = time.perf_counter()
    if part == "sets":
        predict_file(source, folder / "answer.parquet", sets)
    else:
        for batch in TABLE_FORMATS[".parquet"].batches(source, rows_at_once(made.row_numbers), sets):
            numbers = from_arrow(batch.column("x"), "x")
            model.given_outputs(model.features(numbers, made.device, made.theta.dtype))
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "peak_bytes": 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def measure(rows: int = ROWS) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        prepare(folder, rows)
        found = {
            (part, name): _in_a_process(part, folder, name) for part in ("bare", "sets") for name in ("few", "many")
        }
    sets, bare = found["sets", "many"]["seconds"], found["bare", "many"]["seconds"]
    return {
        "rows": rows,
        "rows_per_second": rows / sets,
        "bare_rows_per_second": rows / bare,
        "ratio": sets / bare,
        "peak_megabytes_few": found["sets", "few"]["peak_bytes"] / 2**20,
        "peak_megabytes": found["sets", "many"]["peak_bytes"] / 2**20,
    }


def _in_a_process(part: str, folder: Path, name: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.many_rows", "--part", part, str(folder), name]
    told: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"of the file (default {ROWS:,})")
    parser.add_argument("--part", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        part, folder, name = options.part
        print(json.dumps(run(part, Path(folder), name)))
        return
    print(json.dumps({name: round(value, 2) for name, value in measure(options.rows).items()}, indent=2))


if __name__ == "__main__":
    main()
