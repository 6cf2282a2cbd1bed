"""Calibration data."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from certiset.core.data.frame import names_of
from certiset.core.resources import Dataset
from certiset.service.client.collection import Collection
from certiset.service.client.frame_files import frame_file


class Datasets(Collection[Dataset]):
    path = "/datasets"
    resource = Dataset

    def rename(self, id: str, name: str) -> Dataset:
        """A new name; certificates keep the one that they were issued with."""
        return self._rename(id, name)

    def upload(
        self,
        path: str | os.PathLike[str] | Any = None,
        *,
        x: ArrayLike | None = None,
        y: ArrayLike | None = None,
        name: str = "",
        target: str | None = "y",
    ) -> Dataset:
        """A file (.npz, .csv, .parquet or .json), a data frame, or x and y. The same content again is the same dataset.

        Of a data frame (pandas, polars, pyarrow) that is given alone, the columns of the target are y. Given alone or
        as x, it keeps the names of its columns, its text and what is missing in it. With target=None the file, the
        frame or x are inputs without truths, which certify sizes.
        """
        if (path is None) == (x is None) or (y is None) != (x is None or target is None):
            raise TypeError("Give a path or a data frame, or both x and y, or x and target=None.")
        fields = {"name": name, "target": target or ""}
        table = path if x is None else x
        if names_of(table) is not None:
            content = frame_file(table, y, target)
            return self._send(lambda: (f"{name or 'frame'}.npz", content), fields)
        if path is None:
            # Bytes that depend on nothing but the arrays: NumPy writes no time into its files.
            stream = io.BytesIO()
            truths = {} if target is None else {target: np.asarray(y)}
            np.savez(stream, x=np.asarray(x), **truths)  # type: ignore[arg-type]
            return self._send(lambda: (f"{name or 'arrays'}.npz", stream.getvalue()), fields)
        with Path(path).open("rb") as file:

            def from_the_start() -> tuple[str, Any]:
                file.seek(0)
                # A name that is not text is still a name.
                return Path(path).name.encode(errors="replace").decode(), file

            return self._send(from_the_start, fields)

    def delete(self, id: str) -> None:
        """Removes the data; predictors and certificates made with them go on working."""
        super().delete(id)

    def _send(self, file: Callable[[], tuple[str, Any]], fields: dict[str, str]) -> Dataset:
        return self._connection.ask(Dataset, "POST", self.path, data=fields, files=lambda: {"file": file()})
