"""Numbers separated by tabs, with a header line."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.formats import FileFormat
from certiset.core.data.limits import Limits
from certiset.core.data.tables import Columns


def read(file: Path, target: str | None, limits: Limits) -> tuple[NDArray[Any], NDArray[Any] | None]:
    with file.open() as stream:
        columns = Columns.of(stream.readline().split(), target, limits)
    table = np.loadtxt(file, delimiter="\t", skiprows=1, ndmin=2)
    return columns.split(table)


TSV = FileFormat(name="TSV", suffixes=(".tsv",), summary="numbers with tabs between them", read=read)
