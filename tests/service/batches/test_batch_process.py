"""The process for large requests as its asker sees it: answers to the right ones, and no end that goes unnoticed."""

import asyncio
import os
import sys
from typing import Any

import pytest

from certiset.service.batches import batch_process
from certiset.service.batches.batch_process import BatchLostError, BatchProcess
from certiset.service.batches.channel import write_all
from tests.service.batches import echo


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process finds the tests' own module."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


class Deaths:
    count = 0

    def __call__(self) -> None:
        self.count += 1


def process(died: Deaths, idle_seconds: float = 60.0) -> BatchProcess:
    return BatchProcess(echo.__name__, {"greeting": "hi"}, idle_seconds=idle_seconds, died=died)


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)


async def ask(
    asked: BatchProcess, word: str, content: bytes = b"", *, alone: bool = False
) -> tuple[dict[str, Any], bytes]:
    """Nobody else asks where it is ``alone``: the number of the closed file is then not another's already."""
    body = os.memfd_create("body")
    write_all(body, [content[:1], b"", content[1:]])
    os.lseek(body, 0, os.SEEK_SET)
    try:
        answer, file = await asked.ask({"word": word}, body)
    finally:
        if alone:
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(body)
    assert file is not None
    with open(file, "rb") as stream:
        return answer, stream.read()


def test_many_at_once_get_their_own_answers() -> None:
    async def run() -> None:
        died = Deaths()
        asked = process(died)
        with pytest.raises(BatchLostError, match="try again"):
            await ask(asked, "early", alone=True)
        asked.wake()
        asked.wake()
        await until(lambda: asked.is_ready)
        found = await asyncio.gather(*(ask(asked, f"word {n}", b"x" * (1000 * n)) for n in range(200)))
        assert [(answer["word"], len(content)) for answer, content in found] == [
            (f"word {n}", 1000 * n) for n in range(200)
        ]
        assert found[1][1] == b"X" * 1000
        assert {answer["hello"] for answer, _ in found} == {"hi"}
        asked.close()
        assert died.count == 0

    asyncio.run(run())


def test_a_death_fails_whoever_waits_and_the_next_request_starts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_process, "_PAUSE_SECONDS", 0.0)

    async def run() -> None:
        died = Deaths()
        asked = process(died)
        asked.wake()
        await until(lambda: asked.is_ready)
        waiting = asyncio.create_task(ask(asked, "wait"))
        await asyncio.sleep(0)
        with pytest.raises(BatchLostError):
            await ask(asked, "die")
        with pytest.raises(BatchLostError):
            await waiting
        assert not asked.is_ready
        await until(lambda: died.count == 1)

        def asked_again() -> bool:
            asked.wake()
            return asked.is_ready

        await until(asked_again)
        assert (await ask(asked, "again", b"abc"))[1] == b"ABC"
        asked.close()

    asyncio.run(run())


def test_one_that_never_gets_ready_is_a_death_and_is_waited_for() -> None:
    async def run() -> None:
        died = Deaths()
        asked = BatchProcess("this", {}, idle_seconds=60.0, died=died)
        asked.wake()
        await until(lambda: died.count == 1 and asked._process is None)
        assert not asked.is_ready
        asked.close()

    asyncio.run(run())


def test_one_without_work_ends_and_is_no_death() -> None:
    async def run() -> None:
        died = Deaths()
        asked = process(died, idle_seconds=1.0)
        asked.wake()
        await until(lambda: asked.is_ready)
        await until(lambda: not asked.is_ready)
        assert died.count == 0
        asked.close()

    asyncio.run(run())


def test_none_is_started_where_there_shall_be_none() -> None:
    async def run() -> None:
        asked = process(Deaths(), idle_seconds=0.0)
        asked.wake()
        await asyncio.sleep(0.1)
        assert not asked.is_ready
        assert asked._process is None
        asked.close()

    asyncio.run(run())
