"""JSON bodies: short ones are parsed on the spot, longer ones in a thread, large ones in a process of their own."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from certiset.core.data.json_numbers import split_document
from certiset.core.data.limits import Limits
from certiset.core.errors import TooLargeError
from certiset.service.http.bodies import ON_THE_SPOT
from certiset.service.http.request_errors import body_error
from certiset.service.serving.set_server import SetServer

LARGEST_JSON = Limits().json_bytes
TOO_LONG = (
    f"A JSON body may have at most {LARGEST_JSON:,} bytes: send more as .npz to POST /predict_set, "
    "or as binary tensors of the Open Inference Protocol."
)
_IN_A_THREAD = 2**20

T = TypeVar("T")
Parser: TypeAlias = Callable[[bytes, NDArray[Any] | None], T]
"""of a document, or of one whose numbers were taken out, and these"""


async def parse_json(
    body: bytes,
    parse: Parser[T],
    path: Sequence[str | int],
    *,
    sets: SetServer,
    tenant: str,
    folder: Path,
    further: int = 0,
) -> T:
    """``path`` leads to the body's numbers; ``folder`` is for a temporary file.

    ``further`` bytes, behind the JSON, are what ``parse`` looks at as well.
    """
    if len(body) > LARGEST_JSON:
        raise TooLargeError(TOO_LONG, field="body")
    if len(body) + further <= ON_THE_SPOT:
        return parse(body, None)
    if len(body) <= _IN_A_THREAD:
        return await sets.in_thread(tenant, parse, body, None)
    rest, numbers = await sets.in_thread(tenant, split_document, body, path, folder)
    return await sets.in_thread(tenant, parse, rest, numbers)


async def parse_model(body: bytes, model: TypeAdapter[T], *, sets: SetServer, tenant: str) -> T:
    """For bodies of at most a mebibyte, which FastAPI would parse on the event loop."""
    if len(body) <= ON_THE_SPOT:
        return _validated(body, model)
    return await sets.in_thread(tenant, _validated, body, model)


def _validated(body: bytes, model: TypeAdapter[T]) -> T:
    try:
        return model.validate_json(body)
    except ValidationError as error:
        raise body_error(error, model._type) from None
