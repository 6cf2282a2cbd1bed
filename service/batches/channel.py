"""Messages between the event loops of two processes: a JSON object each, and with it at most one open file."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable, Sequence
from typing import Any

_LONGEST = 2**18
"""bytes of a message: the headers of a request, and some more"""
_MOST_PIECES = 512
"""in one call; systems allow 1024"""


class Channel:
    """One end of a pair of sockets."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * _LONGEST)
        self._socket = end
        self._sending = asyncio.Lock()

    @staticmethod
    def pair() -> tuple[socket.socket, socket.socket]:
        """Whose messages keep their bounds; an OSError where the system has none such."""
        kind = getattr(socket, "SOCK_SEQPACKET", None)
        if kind is None:
            raise OSError("This system has no sockets of packets.")
        return socket.socketpair(socket.AF_UNIX, kind)

    async def send(self, message: dict[str, Any], descriptor: int | None = None) -> None:
        """The file stays open on this side."""
        content, files = json.dumps(message).encode(), [] if descriptor is None else [descriptor]
        async with self._sending:
            while True:
                try:
                    socket.send_fds(self._socket, [content], files)
                    return
                except BlockingIOError:
                    loop = asyncio.get_running_loop()
                    await self._wait(loop.add_writer, loop.remove_writer)

    async def receive(self) -> tuple[dict[str, Any], int | None] | None:
        """The next message, whose file the caller closes; None when the other side is gone."""
        while True:
            try:
                content, files, _, _ = socket.recv_fds(self._socket, _LONGEST, 1, socket.MSG_CMSG_CLOEXEC)
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await self._wait(loop.add_reader, loop.remove_reader)
                continue
            except ConnectionError:
                return None
            if not content:
                return None
            return json.loads(content), files[0] if files else None

    async def _wait(self, add: Callable[..., object], remove: Callable[[int], object]) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        number = self._socket.fileno()
        add(number, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            remove(number)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()


def write_all(descriptor: int, pieces: Sequence[bytes]) -> None:
    """One call of the system's as a rule, which leaves Python's lock to others while it copies."""
    left = [memoryview(piece) for piece in pieces if piece]
    while left:
        written = os.writev(descriptor, left[:_MOST_PIECES])
        while left and written >= len(left[0]):
            written -= len(left.pop(0))
        if written:
            left[0] = left[0][written:]
