"""Answers of any length, sent in pieces: handing over millions of bytes at once would hold everybody else up."""

import mmap
from collections.abc import Iterable, Mapping, Sequence

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_PIECE = 2**17


class LongResponse(Response):
    """Its length is stated, and each piece waits until the client has taken most of those before it."""

    def __init__(self, parts: Sequence[bytes], *, headers: Mapping[str, str], media_type: str) -> None:
        self._parts = parts
        length = {"Content-Length": str(sum(map(len, parts)))}
        super().__init__(None, headers={**headers, **length}, media_type=media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send_in_pieces(self._parts, send)


async def send_in_pieces(parts: Iterable[bytes | mmap.mmap], send: Send) -> None:
    """The whole body of an answer that has begun."""
    for part in parts:
        for start in range(0, len(part), _PIECE):
            await send({"type": "http.response.body", "body": part[start : start + _PIECE], "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
