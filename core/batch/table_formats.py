"""Tables that are read and written batch by batch: Parquet and CSV."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from certiset.core.errors import DataError, first_line

if TYPE_CHECKING:
    from certiset.core.batch.set_predictor import SetPredictor

Batch: TypeAlias = Any
"""a record batch of Arrow's"""
_BLOCK = 2**22
"""bytes of a CSV file that are parsed at once"""
_COLUMN_BLOCK = 2**16
"""bytes of each column of a Parquet file that are read at once, beside the page that they belong to"""


class TableFormat(ABC):
    @abstractmethod
    def count(self, file: Path) -> int | None:
        """How many rows there are, if that is known without reading them."""

    @abstractmethod
    def batches(self, file: Path, rows: int, predictor: "SetPredictor") -> Iterator[Batch]:
        """Of so many rows each, but for the last: the same cuts each time, so that a run can be resumed."""

    @abstractmethod
    def write(self, stream: IO[bytes], batches: Sequence[Batch], *, first: bool) -> None:
        """A piece of the answer; ``first`` for the one that it begins with."""

    @abstractmethod
    def join(self, stream: IO[bytes], pieces: Sequence[Path]) -> None:
        """The pieces as one file."""


class Parquet(TableFormat):
    def count(self, file: Path) -> int | None:
        with _opened(file) as table:
            return int(table.metadata.num_rows)

    def batches(self, file: Path, rows: int, predictor: "SetPredictor") -> Iterator[Batch]:
        with _opened(file) as table:
            predictor.check_columns(table.schema_arrow.names)
            wanted = None if predictor.keep is None else list(dict.fromkeys([*predictor.needed, *predictor.keep]))
            yield from _recut(table.iter_batches(batch_size=rows, columns=wanted), rows)

    def write(self, stream: IO[bytes], batches: Sequence[Batch], *, first: bool) -> None:
        import pyarrow.parquet as pq  # noqa: PLC0415

        with pq.ParquetWriter(stream, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)

    def join(self, stream: IO[bytes], pieces: Sequence[Path]) -> None:
        import pyarrow.parquet as pq  # noqa: PLC0415

        with pq.ParquetFile(pieces[0]) as first, pq.ParquetWriter(stream, first.schema_arrow) as writer:
            for piece in pieces:
                with pq.ParquetFile(piece, pre_buffer=False) as table:
                    writer.write_table(table.read())


class Csv(TableFormat):
    """Inputs are read as numbers; all other columns stay the text that they are."""

    def count(self, file: Path) -> int | None:
        return None

    def batches(self, file: Path, rows: int, predictor: "SetPredictor") -> Iterator[Batch]:
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import csv  # noqa: PLC0415

        try:
            names = _csv_names(file)
            predictor.check_columns(names)
            types = {name: pa.float64() if name in predictor.inputs else pa.string() for name in names}
            convert = csv.ConvertOptions(column_types=types, strings_can_be_null=False)
            # One thread: the order and the cuts are then the same each time.
            read = csv.ReadOptions(block_size=_BLOCK, use_threads=False)
            with csv.open_csv(file, read_options=read, convert_options=convert) as table:
                yield from _recut(table, rows)
        except pa.ArrowInvalid as error:
            raise DataError(f"{file} cannot be read as CSV: {first_line(error).rstrip('.')}.") from None

    def write(self, stream: IO[bytes], batches: Sequence[Batch], *, first: bool) -> None:
        from pyarrow import csv  # noqa: PLC0415

        for place, batch in enumerate(batches):
            options = csv.WriteOptions(include_header=first and place == 0, quoting_style="needed")
            csv.write_csv(_as_texts(batch), stream, options)

    def join(self, stream: IO[bytes], pieces: Sequence[Path]) -> None:
        for piece in pieces:
            with piece.open("rb") as part:
                while block := part.read(_BLOCK):
                    stream.write(block)


TABLE_FORMATS: dict[str, TableFormat] = {".parquet": Parquet(), ".csv": Csv()}
"""by the ending of a file's name"""


def _opened(file: Path) -> Any:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        # Read as it is needed: what is fetched ahead would be kept until the last row, and so would a large row group.
        return pq.ParquetFile(file, pre_buffer=False, buffer_size=_COLUMN_BLOCK)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file} cannot be read as Parquet: {first_line(error).rstrip('.')}.") from None


def _csv_names(file: Path) -> list[str]:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import csv  # noqa: PLC0415

    try:
        with csv.open_csv(file, read_options=csv.ReadOptions(block_size=_BLOCK, use_threads=False)) as table:
            return list(table.schema.names)
    except FileNotFoundError:
        raise DataError(f"{file} cannot be read: there is no such file.") from None
    except pa.ArrowInvalid as error:
        raise DataError(f"{file} cannot be read as CSV: {first_line(error).rstrip('.')}.") from None


def _recut(batches: Iterator[Batch], rows: int) -> Iterator[Batch]:
    """Of so many rows each but for the last, however the reader cut them."""
    import pyarrow as pa  # noqa: PLC0415

    waiting: list[Batch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        while count >= rows:
            whole = _one(pa.Table.from_batches(waiting))
            yield whole.slice(0, rows)
            waiting, count = [whole.slice(rows)], count - rows
    if count:
        yield _one(pa.Table.from_batches(waiting))


def _one(table: Any) -> Batch:
    import pyarrow as pa  # noqa: PLC0415

    found = table.combine_chunks().to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], schema=table.schema)


def _as_texts(batch: Batch) -> Batch:
    """Lists as the text that CSV can hold: numbers with blanks between, texts as JSON, since they may have blanks."""
    import pyarrow as pa  # noqa: PLC0415

    columns = []
    for column in batch.columns:
        kind = column.type
        if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            is_text = pa.types.is_string(kind.value_type)
            texts = [json.dumps(row) if is_text else " ".join(map(str, row)) for row in column.to_pylist()]
            columns.append(pa.array(texts, pa.string()))
        else:
            columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
