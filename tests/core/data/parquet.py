"""Parquet files whose footers say something that their library does not expect."""

import io

import pyarrow as pa
import pyarrow.parquet as pq

_OPTIONAL_Y = b"\x25\x02\x18\x01y"
"""how a footer begins to describe the column y: that it may be empty, and its name"""
CONTRADICTORY, NAMELESS = b"\x25\x00\x18\x01y", b"\x25\x02\x18\x01\x80"


def with_footer(description: bytes) -> bytes:
    """A small file whose column y is described like that."""
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": [0.5, 1.0, 2.0], "y": [0, 1, 1]}), stream)
    content = stream.getvalue()
    assert content.count(_OPTIONAL_Y) == 1
    return content.replace(_OPTIONAL_Y, description)
