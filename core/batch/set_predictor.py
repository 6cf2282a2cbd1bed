"""A saved predictor as a function of batches, in the form that Ray Data, Spark, Arrow and pandas call functions in."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.batch.set_table import as_arrow, as_objects, group_table, set_columns
from certiset.core.data.frame import as_column
from certiset.core.data.group_labels import GroupLabels, complete
from certiset.core.data_frames import nearest
from certiset.core.errors import DataError
from certiset.core.fit import Predictor, load
from certiset.core.sets.base import Ragged

DEFAULT_INPUTS = "x"
_LOADED = ("predictor", "inputs", "group_columns")


class SetPredictor:
    """Adds to every batch the columns of its sets.

    It is called with a mapping of arrays (Ray's default), an Arrow table or record batch, a data frame of pandas, or an
    iterator of record batches (Spark's ``mapInArrow``), and answers in kind. The predictor is loaded where it is first
    called, so that only the folder's name travels to a worker.

    Inputs are the columns that the predictor knows by name; where it knows none, the column ``x``, one list per row.
    ``keep`` names the columns of the batch that the answer has as well; all of them by default.

    Where every group has its own threshold, its columns are those that the calibration named, or ``groups``; the answer
    then says, as ``whole_space``, why everything is in a set. ``alpha`` is needed where the promise is for all of them.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        x: str = DEFAULT_INPUTS,
        keep: Sequence[str] | None = None,
        member: int | None = None,
        groups: str | Sequence[str] | None = None,
        alpha: float | None = None,
        device: str = "cpu",
    ) -> None:
        self.folder, self.x, self.device, self.member, self.alpha = str(folder), x, device, member, alpha
        self.groups = [groups] if isinstance(groups, str) else None if groups is None else list(groups)
        self.keep = None if keep is None else list(keep)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker gets: never the loaded predictor, nor what was read from it."""
        return {name: value for name, value in vars(self).items() if name not in _LOADED}

    @cached_property
    def predictor(self) -> Predictor:
        return load(self.folder, self.device)

    @cached_property
    def inputs(self) -> list[str]:
        """The columns that are read."""
        data = self.predictor.certificate.data
        return [self.x] if data is None or data.columns is None else list(data.columns)

    @cached_property
    def group_columns(self) -> list[str]:
        """The columns that say the group of a row; none where all rows have the same threshold."""
        rule = self.predictor.groups
        if rule is None:
            if self.groups is not None:
                raise DataError(
                    "This predictor has the same threshold for all inputs: leave groups out.", field="groups"
                )
            return []
        named = self.groups if self.groups is not None else rule.columns
        if named is None:
            raise DataError(
                "This predictor has a threshold for each group, and its calibration named no column: say by groups "
                "which column of the batch has them.",
                field="groups",
            )
        if len(named) != rule.width:
            raise DataError(
                f"The groups of this predictor have {rule.width} columns, not {len(named)}.", field="groups"
            )
        return list(named)

    @property
    def needed(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.inputs, *self.group_columns]))

    def __call__(self, batch: Any) -> Any:
        kind = type(batch).__module__.partition(".")[0]
        if isinstance(batch, Mapping):
            return self._of_mapping(batch)
        if kind == "pyarrow" and hasattr(batch, "schema") and hasattr(batch, "num_rows"):
            return self._of_arrow(batch)
        if kind == "pandas":
            return self._of_pandas(batch)
        if isinstance(batch, Iterator):
            return self._of_many(batch)
        raise DataError(
            "A batch must be a mapping of arrays, an Arrow table or record batch, a data frame of pandas, or an "
            f"iterator of record batches, not {type(batch).__name__}."
        )

    def columns_of(self, rows: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any] | Ragged]:
        """The sets of rows that are given as arrays by the names of `needed`."""
        count = _count(rows)
        members = self.predictor.draw_members(count, self.member)
        x = _stacked([rows[name] for name in self.inputs]) if self._is_table else _lists(rows[self.x], self.x)
        if not self.group_columns:
            return set_columns(self.predictor.predict_set(x, members, alpha=self.alpha), members)
        named = [complete(as_column(rows[name]), "groups") for name in self.group_columns]
        labels = GroupLabels.of(named)
        found = set_columns(self.predictor.predict_set(x, members, groups=labels, alpha=self.alpha), members)
        codes = self.predictor.group_codes(labels, count)
        assert codes is not None
        return {**found, "whole_space": group_table(self.predictor, codes)["whole_space"]}

    @property
    def _is_table(self) -> bool:
        data = self.predictor.certificate.data
        return data is not None and data.columns is not None

    def check_columns(self, names: Sequence[str]) -> None:
        """That the inputs are there, and nothing that the answer would write over."""
        for name in self.inputs:
            if name not in names:
                advice = "" if self._is_table else ": name the column that holds a list of numbers per row"
                raise DataError(f"The batch has no column {name!r}{nearest(name, list(names))}{advice}.", field=name)
        for name in self.group_columns:
            if name not in names:
                raise DataError(
                    f"groups: the batch has no column {name!r}{nearest(name, list(names))}.", field="groups"
                )
        for name in self.keep or []:
            if name not in names:
                raise DataError(f"keep: there is no column {name!r}{nearest(name, list(names))}.", field="keep")

    def kept(self, names: Sequence[str], added: Iterable[str]) -> list[str]:
        """The columns of the batch that stay; one with the name of a new column has to be left out by ``keep``."""
        kept = list(names) if self.keep is None else self.keep
        clash = next((name for name in added if name in kept), None)
        if clash is not None:
            raise DataError(
                f"The batch has a column {clash!r} of its own, which the sets have too: rename it, or leave it out by "
                "keep.",
                field="keep",
            )
        return kept

    def _of_mapping(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        self.check_columns(list(batch))
        found = self.columns_of({name: np.asarray(batch[name]) for name in self.needed})
        kept = self.kept(list(batch), found)
        return {**{name: batch[name] for name in kept}, **{name: as_objects(each) for name, each in found.items()}}

    def _of_pandas(self, batch: Any) -> Any:
        self.check_columns(list(batch.columns))
        found = self.columns_of({name: batch[name].to_numpy() for name in self.needed})
        answer = batch[self.kept(list(batch.columns), found)].copy()
        for name, column in found.items():
            values = as_objects(column)
            answer[name] = values if values.ndim == 1 else list(values)
        return answer

    def _of_arrow(self, batch: Any) -> Any:
        names = batch.schema.names
        self.check_columns(names)
        found = self.columns_of({name: from_arrow(batch.column(name), name) for name in self.needed})
        kept = self.kept(names, found)
        arrays = [batch.column(name) for name in kept] + [as_arrow(column) for column in found.values()]
        return type(batch).from_arrays(arrays, names=[*kept, *found])

    def _of_many(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield self._of_arrow(batch)


def from_arrow(column: Any, name: str) -> NDArray[Any]:
    """(rows,) of numbers, or (rows, numbers) of a column of lists; a missing number is not a number."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array.type, pa.ExtensionType):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    if array.null_count:
        row = array.is_null().index(pa.scalar(True)).as_py()
        raise DataError(f"Column {name!r} has no list in row {row + 1}.", field=name)
    if not len(array):
        return np.zeros((0, 0))
    lengths = np.asarray(pc.list_value_length(array))
    if (lengths != lengths[0]).any():
        raise DataError(f"Column {name!r} has lists of different lengths.", field=name)
    return np.asarray(array.flatten().to_numpy(zero_copy_only=False)).reshape(len(array), -1)


def _count(rows: Mapping[str, NDArray[Any]]) -> int:
    return len(next(iter(rows.values())))


def _stacked(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns of numbers side by side."""
    return np.column_stack([_objects(column) for column in columns])


def _lists(column: NDArray[Any], name: str) -> NDArray[Any]:
    found = _objects(column)
    return found[:, None] if found.ndim == 1 and found.dtype.kind in "biuf" else found


def _objects(column: NDArray[Any]) -> NDArray[Any]:
    """An array of arrays, as pandas and Ray keep columns of lists, as one array of numbers."""
    if column.dtype.kind != "O" or not len(column):
        return column
    try:
        return np.stack([np.asarray(row, dtype=np.float64) for row in column])
    except (ValueError, TypeError):
        raise DataError("Inputs must be numbers, or lists of numbers that all have the same length.") from None
