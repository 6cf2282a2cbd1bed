"""The process for large requests: started by the first of them, ended after a while without any.

Parsing, hashing and writing thousands of rows is Python's work in large parts, and whoever shares a process with it
waits for Python's lock. In a process of its own, which steps back behind others, it keeps nobody waiting. As long as
there is none, because it is only just starting, or has died, the asking process does the work itself.
"""

import asyncio
import itertools
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from anyio.to_thread import run_sync

from certiset.core.errors import UnavailableError
from certiset.service.batches.channel import Channel

_log = logging.getLogger(__name__)
_PAUSE_SECONDS = 10.0
"""between two starts"""
_END_SECONDS = 2.0
"""until a process that was told to end is killed"""

Answer = tuple[dict[str, Any], int | None]


class BatchLostError(UnavailableError):
    """The process died before it had answered."""

    code = "busy"
    retry_seconds = 1


class BatchProcess:
    """Used from the event loop alone. ``module`` is what runs in the process, ``hello`` the first that it is told."""

    def __init__(
        self, module: str, hello: dict[str, Any], *, idle_seconds: float, died: Callable[[], object] = lambda: None
    ) -> None:
        self._module, self._hello, self._idle_seconds, self._died = module, hello, idle_seconds, died
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._channel: Channel | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._life: asyncio.Task[None] | None = None
        self._started = -_PAUSE_SECONDS
        self._asked = 0.0

    @property
    def is_ready(self) -> bool:
        return self._channel is not None

    def wake(self) -> None:
        """Starts the process, unless it is starting or has only just been started."""
        alive = self._life is not None and not self._life.done()
        if self._idle_seconds > 0 and not alive and time.monotonic() - self._started >= _PAUSE_SECONDS:
            self._started = self._asked = time.monotonic()
            self._life = asyncio.get_running_loop().create_task(self._live())

    async def ask(self, request: dict[str, Any], body: int) -> Answer:
        """The answer with its open file, which the caller closes; `BatchLostError` if the process dies.

        The file with the body is closed here as soon as the process has it: who closes it last frees its memory, and
        that takes milliseconds.
        """
        number, self._asked = next(self._numbers), time.monotonic()
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            try:
                if self._channel is None:
                    raise _lost()
                await self._channel.send({"id": number, **request}, body)
            finally:
                os.close(body)
            return await answer
        except ConnectionError:
            raise _lost() from None
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """Lets it end by itself; then it is made to."""
        if self._life is not None:
            self._life.cancel()
        self._end()

    async def _live(self) -> None:
        try:
            ours, theirs = Channel.pair()
        except OSError:
            return
        channel, ended_by_us = Channel(ours), False
        try:
            self._process = await run_sync(self._start, theirs.fileno())
            theirs.close()
            await channel.send(self._hello)
            if await channel.receive() is not None:
                self._channel = channel
                ended_by_us = await self._listen(channel)
        except OSError as error:
            _log.warning("There is no process for large requests: %s.", error)
        finally:
            self._channel = None
            theirs.close()
            channel.close()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(_lost())
        if not ended_by_us:
            self._died()
            _log.warning("The process for large requests has died; the next large request starts another one.")
        await run_sync(self._end)

    async def _listen(self, channel: Channel) -> bool:
        """Until the process ends, or was idle for long, which is what is returned."""
        while True:
            left = self._asked + self._idle_seconds - time.monotonic()
            if left <= 0 and not self._waiting:
                return True
            try:
                async with asyncio.timeout(max(left, 1.0)):
                    found = await channel.receive()
            except TimeoutError:
                continue
            if found is None:
                return False
            message, descriptor = found
            answer = self._waiting.get(message["id"])
            if answer is not None and not answer.done():
                answer.set_result((message, descriptor))
            elif descriptor is not None:
                os.close(descriptor)

    def _start(self, descriptor: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-P", "-m", self._module, str(descriptor)],
            stdin=subprocess.DEVNULL,
            pass_fds=[descriptor],
            # A Ctrl-C is for whoever started it, which then ends it.
            start_new_session=True,
        )

    def _end(self) -> None:
        channel, process, self._process = self._channel, self._process, None
        if channel is not None:
            channel.close()
        if process is None:
            return
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _lost() -> BatchLostError:
    return BatchLostError("The process for large requests has died: try again in a moment.")
