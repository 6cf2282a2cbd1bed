"""Answers of any length, sent in pieces: handing over millions of bytes at once would hold everybody else up."""

from collections.abc import Iterator, Mapping, Sequence

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
        for piece in _pieces(self._parts):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _pieces(parts: Sequence[bytes]) -> Iterator[bytes]:
    for part in parts:
        for start in range(0, len(part), _PIECE):
            yield part[start : start + _PIECE]
