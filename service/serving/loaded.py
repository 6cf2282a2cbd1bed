"""Predictors kept ready: loaded once however many ask at the same time, the least used dropped when memory is short."""

import asyncio
import json
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from anyio.to_thread import run_sync
from numpy.typing import NDArray

from core.certificate import Certificate
from core.fit import Predictor
from core.fit.saving import restore
from core.store import Store
from service.serving.inference import InferenceThreads

_REFRESH_SECONDS = 3.0
_STALE_SECONDS = 15.0
"""what was last looked at so long ago is looked at before it is said again"""


@dataclass
class Loaded:
    """A predictor in memory, with what answers say about it."""

    tenant: str
    id: str
    predictor: Predictor
    memory: int
    """bytes of its tensors"""
    serve: str = "random"
    contradicted: bool = False
    checked: float = field(default_factory=time.monotonic)
    certificate_json: bytes = b""
    """the part of every answer that says what is promised"""

    def __post_init__(self) -> None:
        self.describe()

    def describe(self) -> None:
        """Writes down what answers say, whenever it has changed."""
        coverage = self.predictor.certificate.coverage
        self.certificate_json = json.dumps(
            {
                "id": self.predictor.certificate.id,
                "coverage": round(1 - promised_alpha(self.predictor.certificate), 12),
                "delta": round(coverage.delta + coverage.pool_delta, 12),
                "guarantee": coverage.guarantee,
                "status": "contradicted" if self.contradicted else "consistent",
            }
        ).encode()

    @property
    def best_member(self) -> int:
        return best_member(self.predictor.certificate)

    def members(self, rows: int, member: int | None) -> NDArray[np.int64]:
        """Who answers for each row: the one asked for, the best one, or one drawn from the system's randomness."""
        if member is None and self.serve == "best":
            member = self.best_member
        return self.predictor.draw_members(rows, member)


def promised_alpha(certificate: Certificate) -> float:
    """The miscoverage that is promised for what is really served."""
    coverage = certificate.coverage
    return coverage.alpha if coverage.guarantee == "per_draw" else coverage.pool_miscoverage_bound


def best_member(certificate: Certificate) -> int:
    """The smallest certified size, or the smallest size seen where none is certified."""

    def cost(place: int) -> tuple[float, int]:
        member = certificate.members[place]
        size = member.efficiency_bound if member.efficiency_bound is not None else member.efficiency_empirical
        return (size if size is not None else float("inf"), place)

    return min(range(len(certificate.members)), key=cost)


class LoadedPredictors:
    """Used from the event loop alone."""

    def __init__(self, store: Store, cache_bytes: int, inference: InferenceThreads) -> None:
        self._store, self._cache_bytes, self._inference = store, cache_bytes, inference
        self._ready: OrderedDict[tuple[str, str], Loaded] = OrderedDict()
        self._loading: dict[tuple[str, str], asyncio.Task[Loaded]] = {}
        self._refreshing: set[asyncio.Task[None]] = set()

    async def get(self, tenant: str, id: str) -> Loaded:
        key = (tenant, id)
        found = self._ready.get(key)
        if found is not None:
            self._ready.move_to_end(key)
            age = time.monotonic() - found.checked
            if age > _STALE_SECONDS:
                found.checked = time.monotonic()
                await self._look_again(found)
            elif age > _REFRESH_SECONDS:
                self._refresh(found)
            return found
        task = self._loading.get(key)
        if task is None:
            task = self._loading[key] = asyncio.create_task(self._load(key))
        # A caller that goes away must not take the loading with it: others wait for the same.
        return await asyncio.shield(task)

    @property
    def memory(self) -> int:
        return sum(loaded.memory for loaded in self._ready.values())

    async def _load(self, key: tuple[str, str]) -> Loaded:
        try:
            loaded = await run_sync(self._read, *key)
            self._ready[key] = loaded
            while self.memory > self._cache_bytes and len(self._ready) > 1:
                self._ready.popitem(last=False)
            return loaded
        finally:
            del self._loading[key]

    def _read(self, tenant: str, id: str) -> Loaded:
        with self._store.reading() as work:
            record = work.predictors.get(tenant, id)
            document = work.certificates.get(tenant, record.certificate_id).document
            monitor = work.outcomes.monitor(tenant, id)
        content = self._store.artifacts.get(record.artifact)
        predictor = restore(
            content,
            record.description,
            Certificate.from_json(document),
            self._inference.device_for(id),
            source=f"The stored file {record.artifact}",
        )
        contradicted = monitor.contradicted_at is not None
        return Loaded(tenant, id, predictor, len(content), record.serve, contradicted)

    def _refresh(self, loaded: Loaded) -> None:
        """Looks, while nobody waits, whether outcomes or the owner have changed something."""
        loaded.checked = time.monotonic()
        task = asyncio.create_task(self._look_again(loaded))
        self._refreshing.add(task)
        task.add_done_callback(self._refreshing.discard)

    async def _look_again(self, loaded: Loaded) -> None:
        def look() -> tuple[str, bool]:
            with self._store.reading() as work:
                serve = work.predictors.get(loaded.tenant, loaded.id).serve
                return serve, work.outcomes.monitor(loaded.tenant, loaded.id).contradicted_at is not None

        try:
            serve, contradicted = await run_sync(look)
        except Exception:
            # What is in memory stays true until the database can be asked again.
            return
        self.update(loaded, serve=serve, contradicted=contradicted)

    def update(self, loaded: Loaded, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(loaded, name, value)
        loaded.describe()
