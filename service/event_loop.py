"""The quickest event loop that is installed: uvloop, which does not exist for every system, or Python's own."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)
