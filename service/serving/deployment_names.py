"""What the names of deployments stand for, kept in memory: looked at again every second while they are used.

A name that was last looked at three seconds ago is looked at before it is used, so that a switch is everywhere within
seconds. If the database does not answer within a moment, the name stands for what it was last known to stand for.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from anyio.to_thread import run_sync

from certiset.core.errors import NotFoundError
from certiset.core.store import Store
from certiset.core.store.deployment_records import DeploymentRecord

_FRESH_SECONDS = 1.0
_STALE_SECONDS = 3.0
_MOMENT_SECONDS = 0.5
"""for which a request waits for a look at the database"""
_LOADING_SECONDS = 1.0
"""for which the predictor before goes on answering while the next one is loaded"""
_REST_SECONDS = 1.0
"""after a look that failed, names are used as they are known"""
_REMEMBERED = 10_000


@dataclass(frozen=True)
class Deployed:
    """What a name stands for; one request uses one of these from its beginning to its end."""

    name: str
    version: int
    predictor_id: str
    token: bytes | None
    """what prediction ids call the deployment; None: its outcomes are not collected"""

    @classmethod
    def of(cls, record: DeploymentRecord) -> "Deployed":
        token = None if record.recalibrate is None else bytes.fromhex(record.token)
        return cls(record.name, record.version, record.predictor_id, token)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "version": self.version}


class DeploymentNames:
    """Used from the event loop alone. ``load`` makes a predictor ready."""

    def __init__(self, store: Store, load: Callable[[str, str], Coroutine[Any, Any, object]]) -> None:
        self._store, self._load = store, load
        self._known: OrderedDict[tuple[str, str], tuple[float, Deployed]] = OrderedDict()
        self._looking: dict[tuple[str, str], tuple[float, asyncio.Task[Deployed]]] = {}
        self._resting_until = 0.0

    async def get(self, tenant: str, name: str) -> Deployed:
        key = (tenant, name)
        found = self._known.get(key)
        if found is None:
            return await self.look_up(tenant, name)
        asked, age = time.monotonic(), time.monotonic() - found[0]
        if age <= _FRESH_SECONDS or (age > _STALE_SECONDS and asked < self._resting_until):
            return found[1]
        begun, task = self._look(key)
        if age <= _STALE_SECONDS:
            return found[1]
        await asyncio.wait({task}, timeout=max(0.0, begun + _MOMENT_SECONDS - asked))
        if task.done() and isinstance(task.exception(), NotFoundError):
            return task.result()
        return self._known.get(key, found)[1]

    async def look_up(self, tenant: str, name: str) -> Deployed:
        """By the database alone; others who ask at the same time wait for the same look."""
        _, task = self._look((tenant, name))
        return await asyncio.shield(task)

    def learn(self, record: DeploymentRecord) -> None:
        """A change that was made here is known here at once."""
        self._remember((record.tenant, record.name), time.monotonic(), Deployed.of(record))

    def forget(self, tenant: str, name: str) -> None:
        self._known.pop((tenant, name), None)

    def _look(self, key: tuple[str, str]) -> tuple[float, "asyncio.Task[Deployed]"]:
        looking = self._looking.get(key)
        if looking is None:
            task = asyncio.create_task(self._read(key))
            looking = self._looking[key] = (time.monotonic(), task)
            task.add_done_callback(lambda done: self._ended(key, done))
        return looking

    async def _read(self, key: tuple[str, str]) -> Deployed:
        def look() -> DeploymentRecord:
            with self._store.reading() as work:
                return work.deployments.get(*key)

        begun = time.monotonic()
        try:
            found = Deployed.of(await run_sync(look))
        except NotFoundError:
            self._known.pop(key, None)
            raise
        before = self._known.get(key)
        if before is not None and before[1].predictor_id != found.predictor_id:
            # Whoever asks meanwhile is answered by the one before, and nobody waits until the next one is loaded. If it
            # cannot be loaded, that is said to those who ask for it.
            loading = asyncio.ensure_future(self._load(key[0], found.predictor_id))
            loading.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.wait({loading}, timeout=_LOADING_SECONDS)
        self._remember(key, begun, found)
        return found

    def _remember(self, key: tuple[str, str], at: float, found: Deployed) -> None:
        before = self._known.get(key)
        if before is not None and before[1].version > found.version:
            # What was read before a change is older than what is known of the change.
            return
        self._known[key] = (at, found)
        self._known.move_to_end(key)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _ended(self, key: tuple[str, str], task: "asyncio.Task[Deployed]") -> None:
        del self._looking[key]
        if not task.cancelled() and task.exception() is not None and not isinstance(task.exception(), NotFoundError):
            self._resting_until = time.monotonic() + _REST_SECONDS
