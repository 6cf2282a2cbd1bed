"""JSON as text, read so that it says one thing: no name twice in an object, no number that JSON does not have.

Programs differ in which of two equal names they believe, so that a text with both could pass a check as one certificate
and be shown as another.
"""

import json
from typing import Any, NoReturn

from certiset.core.errors import DamagedFileError


def parse(text: str | bytes, what: str) -> Any:
    """The value; ``what`` is how an error calls the text."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except DamagedFileError as error:
        raise DamagedFileError(f"{what} cannot be trusted: {error}") from None
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{what} is not JSON: {error}.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DamagedFileError(f"the name {twice[:60]!r} appears twice in one object.")
    return found


def _constant(name: str) -> NoReturn:
    raise DamagedFileError(f"{name} is not a number in JSON.")
