"""Large JSON in a process of its own: parsing it holds Python's lock for seconds, and takes many times its size."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

from certiset.core import sandbox
from certiset.core.confinement import Confinement
from certiset.core.data.arrays import as_numbers
from certiset.core.errors import OptionError
from certiset.core.scratch import scratch_file

_LONGEST_REST = 2**16
_MEMORY = 8 * 2**30
_SECONDS = 60.0


class SplitDocument(NamedTuple):
    rest: bytes
    """the document as JSON, with null in the place of its numbers"""
    numbers: NDArray[Any] | None
    """None if there is no list in that place"""


def split_document(document: bytes, path: Sequence[str | int], folder: Path) -> SplitDocument:
    """Parses the document in a process of its own, which returns the numbers at a path as an array."""
    with scratch_file(folder, [document]) as file:
        found = sandbox.call(
            f"{__name__}:{split_file.__name__}",
            {"file": str(file.absolute()), "path": list(path)},
            confinement=Confinement(memory=_MEMORY, cpu_seconds=int(_SECONDS), readable=(str(file.absolute()),)),
            seconds=_SECONDS,
        )
    rest, *numbers = found.arrays
    return SplitDocument(rest.tobytes(), numbers[0] if numbers else None)


def split_file(file: str, path: list[str | int]) -> tuple[NDArray[Any], ...]:
    """The other side of `split_document`: the rest as bytes, and the numbers if there are any."""
    try:
        document = from_json(Path(file).read_bytes())
    except ValueError as error:
        raise OptionError(f"The body is not valid JSON: {error}.", field="body") from None
    numbers = _taken(document, path)
    rest = json.dumps(document).encode()
    if len(rest) > _LONGEST_REST:
        raise OptionError(f"Besides its numbers, the body may have at most {_LONGEST_REST:,} bytes.", field="body")
    head = np.frombuffer(rest, dtype=np.uint8)
    return (head,) if numbers is None else (head, as_numbers(".".join(map(str, path)), numbers))


def _taken(document: Any, path: Sequence[str | int]) -> list[Any] | None:
    *way, last = path
    try:
        for step in way:
            document = document[step]
        found = document[last]
    except (KeyError, IndexError, TypeError):
        return None
    if not isinstance(found, list):
        return None
    document[last] = None
    return found
