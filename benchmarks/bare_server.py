"""A server that does nothing: its tail beside other work is that of the machine and of the client."""

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from certiset.service import event_loop

PORT = 8767
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


class _Bare(asyncio.Protocol):
    transport: Any

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        # The clients here send a short request and wait for its answer.
        self.transport.write(_ANSWER)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Bare, "127.0.0.1", PORT)
    await server.serve_forever()


def _run() -> None:
    event_loop.run(_serve())


@contextmanager
def bare_server() -> Iterator[int]:
    """Its port, while it runs in a process of its own."""
    process = multiprocessing.get_context("spawn").Process(target=_run, daemon=True)
    process.start()
    try:
        yield PORT
    finally:
        process.terminate()
        process.join()
