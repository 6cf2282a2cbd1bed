"""`read_dataset`: which reader a file goes to."""

from collections.abc import Callable
from pathlib import Path

from core.datasets.arrays import DatasetArrays
from core.datasets.csv_file import read_csv
from core.datasets.json_file import read_json
from core.datasets.limits import MORE_MEMORY, Limits
from core.datasets.npz_file import read_npz
from core.datasets.parquet_process import read_parquet
from core.errors import DataError, FileKindError

Reader = Callable[[Path, str, Limits], DatasetArrays]

KINDS: dict[str, Reader] = {".npz": read_npz, ".csv": read_csv, ".parquet": read_parquet, ".json": read_json}


def read_dataset(file: Path, filename: str, target: str = "y", limits: Limits | None = None) -> DatasetArrays:
    """The arrays of a file, read as what its name says.

    ``target`` names the column of y, or several, with commas; .npz files hold arrays x and y (or of that name).
    """
    kind = Path(filename).suffix.lower()
    if kind not in KINDS:
        raise FileKindError(f"{filename or 'The file'} is not one of {', '.join(KINDS)}.")
    if not target.strip() or (target == "x" and kind in (".npz", ".json")):
        raise DataError("target must name the column or array of y.")
    try:
        return KINDS[kind](file, target, limits or Limits())
    except MemoryError:
        raise DataError(MORE_MEMORY) from None
