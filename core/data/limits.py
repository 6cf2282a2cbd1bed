"""How much a file may ask of the machine that reads it."""

from dataclasses import dataclass

from certiset.core.errors import DataError

MORE_MEMORY = "The file needs more memory than there is: calibrate on a random part of the rows."


@dataclass(frozen=True)
class Limits:
    unpacked_bytes: int = 2**32
    """of all arrays together, in memory"""
    json_bytes: int = 2**24
    """of a JSON file, which takes many times its size to parse"""
    columns: int = 100_000
    """of a table"""
    line_bytes: int = 2**24
    """of one line of a CSV file"""

    def check_unpacked(self, size: int) -> None:
        if size > self.unpacked_bytes:
            raise DataError(
                f"The file unpacks to {size:,} bytes, and at most {self.unpacked_bytes:,} are accepted: "
                "calibrate on a random part of the rows."
            )

    def check_columns(self, columns: int) -> None:
        if columns > self.columns:
            raise DataError(
                f"The table has {columns:,} columns, and at most {self.columns:,} are accepted: "
                "send such data as .npz with an array x."
            )
