"""Predictors kept ready: loaded once however many ask at the same time, the least used dropped when memory is short."""

import asyncio
import json
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from anyio.to_thread import run_sync
from numpy.typing import NDArray

from certiset.core.certificate import Certificate
from certiset.core.certificate.best_member import best_member
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.issuer_keys import IssuerKeys
from certiset.core.certificate.level_checks import place_of
from certiset.core.certificate.rounding import promised_share, total_risk
from certiset.core.errors import DamagedCertificateError, NotFoundError, OptionError
from certiset.core.fit import Predictor
from certiset.core.fit.canaries import check_canaries
from certiset.core.fit.predictor import make_predictor
from certiset.core.fit.serialization import read_members
from certiset.core.graphs import GraphHost
from certiset.core.jobs.views import certificate_status
from certiset.core.resources import Promise
from certiset.core.store import Store
from certiset.service.serving.inference import InferenceThreads

_DISTINCT = 0.99
_MOST_LEVELS = 64
_REFRESH_SECONDS = 3.0
_STALE_SECONDS = 15.0
"""what was last looked at so long ago is looked at before it is stated again"""
_MOMENT_SECONDS = 0.5
"""for which an answer waits for that: a database that does not answer holds up no set"""


class AskedPredictor(NamedTuple):
    """A predictor at the level that is asked for."""

    predictor: Predictor
    certificate_json: bytes
    is_watched: bool
    """whether the monitor counts outcomes of its sets: at one of the levels it does"""


@dataclass
class CachedPredictor:
    """A predictor in memory, with what answers say about it."""

    tenant: str
    id: str
    predictor: Predictor
    memory: int
    """bytes of its tensors"""
    serve: str = "random"
    contradicted: bool = False
    attempts: int | None = None
    """on its calibration rows until now"""
    checked: float = field(default_factory=time.monotonic)
    certificate_json: bytes = b""
    """the part of every answer that states what is promised"""
    best_member: int = 0
    counts_inputs: bool = False
    """whether an outcome counts once an input, because inputs did not repeat in calibration either"""
    each_is_promised: bool = False
    """every member keeps the promise by itself, so that one may be served alone, whatever the database says"""
    at_places: OrderedDict[int, Predictor] = field(default_factory=OrderedDict)
    """where the promise is for all alpha: with the thresholds of the levels that were asked for last"""

    def __post_init__(self) -> None:
        coverage = self.predictor.certificate.coverage
        self.each_is_promised = guarantee_of(coverage).member_alpha(coverage) is not None
        self.best_member = best_member(self.predictor.certificate)
        self.counts_inputs = inputs_are_distinct(self.predictor.certificate)
        self.describe()

    def describe(self) -> None:
        """To be called whenever something has changed that answers state."""
        coverage = self.predictor.certificate.coverage
        self.certificate_json = self._promise(guarantee_of(coverage).promised_alpha(coverage))

    def asked_at(self, alpha: float | None, field: str = "alpha") -> AskedPredictor:
        """What answers at the level that is asked for, and what it promises; ``field`` is what the caller calls it."""
        levels = self.predictor.certificate.levels
        if levels is None and alpha is None:
            return AskedPredictor(self.predictor, self.certificate_json, True)
        try:
            if levels is None or alpha is None:
                return AskedPredictor(self.predictor.asked_at(alpha), self.certificate_json, True)
            place = place_of(self.predictor.certificate, levels, alpha)
        except OptionError as error:
            raise OptionError(str(error), field=field) from None
        found = self.at_places.get(place)
        if found is None:
            found = self.at_places[place] = self.predictor.at_alpha(alpha)
        self.at_places.move_to_end(place)
        if len(self.at_places) > _MOST_LEVELS:
            self.at_places.popitem(last=False)
        watched = alpha == self.predictor.certificate.coverage.alpha
        return AskedPredictor(found, self._promise(alpha, alpha), watched)

    def _promise(self, promised: float, alpha: float | None = None) -> bytes:
        coverage = self.predictor.certificate.coverage
        certificate = self.predictor.certificate
        account = certificate.account
        promise = Promise(
            id=certificate.id,
            coverage=promised_share(promised),
            delta=total_risk(coverage.delta, coverage.pool_delta),
            guarantee=coverage.guarantee,
            status=certificate_status(contradicted=self.contradicted),
            caveats=len(certificate.caveats) + (account is not None and account.is_caveat),
            attempt=None if account is None else account.attempt,
            attempts=self.attempts,
            alpha=alpha,
        )
        # Answers at the one alpha that there is need not name it.
        return json.dumps(promise.model_dump(exclude={"alpha"} if alpha is None else None)).encode()

    @property
    def only_member(self) -> int | None:
        """The one that answers for every input; None where each draws its own."""
        return self.best_member if self.serve == "best" and self.each_is_promised else None

    def members(self, rows: int, member: int | None, numbers: NDArray[np.uint64] | None = None) -> NDArray[np.int64]:
        """Who answers for each row: the one asked for, the best one, the case's, or one drawn by the system.

        ``numbers`` are those of the rows' cases, as good as random.
        """
        member = self.only_member if member is None else member
        if member is None and numbers is not None:
            return self.predictor.choice.of_numbers(numbers)
        return self.predictor.draw_members(rows, member)


def inputs_are_distinct(certificate: Certificate) -> bool:
    """Whether nearly all calibration rows were. Where inputs repeat honestly, as in a table of few categories, counting
    each once would leave the rare ones, whose miscoverage may be another."""
    data = certificate.data
    return data is not None and data.distinct_rows is not None and data.distinct_rows >= _DISTINCT * data.rows


class PredictorCache:
    """Used from the event loop alone."""

    def __init__(
        self,
        store: Store,
        cache_bytes: int,
        inference: InferenceThreads,
        graphs: GraphHost,
        issuer_keys: IssuerKeys,
    ) -> None:
        self._store, self._cache_bytes, self._inference, self._graphs = store, cache_bytes, inference, graphs
        self._issuer_keys = issuer_keys
        self._ready: OrderedDict[tuple[str, str], CachedPredictor] = OrderedDict()
        self._loading: dict[tuple[str, str], asyncio.Task[CachedPredictor]] = {}
        self._refreshing: set[asyncio.Task[None]] = set()

    async def get(self, tenant: str, id: str) -> CachedPredictor:
        key = (tenant, id)
        found = self._ready.get(key)
        if found is not None:
            self._ready.move_to_end(key)
            age = time.monotonic() - found.checked
            if age > _STALE_SECONDS:
                await asyncio.wait({self._refresh(found)}, timeout=_MOMENT_SECONDS)
                if key not in self._ready:
                    return await self.get(tenant, id)
            elif age > _REFRESH_SECONDS:
                self._refresh(found)
            return found
        task = self._loading.get(key)
        if task is None:
            task = self._loading[key] = asyncio.create_task(self._load(key))
        # A caller that goes away must not take the loading with it: others wait for the same.
        return await asyncio.shield(task)

    @property
    def has_any(self) -> bool:
        return bool(self._ready)

    @property
    def memory(self) -> int:
        return sum(cached.memory for cached in self._ready.values())

    async def _load(self, key: tuple[str, str]) -> CachedPredictor:
        try:
            cached = await run_sync(self._read, *key)
            self._ready[key] = cached
            while self.memory > self._cache_bytes and len(self._ready) > 1:
                self._ready.popitem(last=False)
            return cached
        finally:
            del self._loading[key]

    def _read(self, tenant: str, id: str) -> CachedPredictor:
        with self._store.reading() as work:
            record = work.predictors.get(tenant, id)
            document = work.certificates.get(tenant, record.certificate_id).document
            monitor = work.outcomes.monitor(tenant, id)
            attempts = work.attempts.so_far(tenant, id)
        # Whoever can write to the database could otherwise promise what was never proved.
        certificate = self._issuer_keys.issued(document, record.certificate_id)
        if certificate.predictor_id != id:
            raise DamagedCertificateError(f"The certificate {certificate.id} was not issued for the predictor {id}.")
        content = self._store.artifacts.get(record.artifact)
        source = f"The stored file {record.artifact}"
        members = read_members(content, record.description, certificate, source=source, graphs=self._graphs.of(tenant))
        predictor = check_canaries(make_predictor(members, certificate, self._inference.device_for(id)))
        contradicted = monitor.contradicted_at is not None
        return CachedPredictor(tenant, id, predictor, len(content), record.serve, contradicted, attempts)

    def _refresh(self, cached: CachedPredictor) -> "asyncio.Task[None]":
        """Looks, in the background, whether outcomes or the owner have changed something."""
        cached.checked = time.monotonic()
        task = asyncio.create_task(self._look_again(cached))
        self._refreshing.add(task)
        task.add_done_callback(self._refreshing.discard)
        return task

    async def _look_again(self, cached: CachedPredictor) -> None:
        def look() -> tuple[str, bool, int | None]:
            with self._store.reading() as work:
                serve = work.predictors.get(cached.tenant, cached.id).serve
                contradicted = work.outcomes.monitor(cached.tenant, cached.id).contradicted_at is not None
                return serve, contradicted, work.attempts.so_far(cached.tenant, cached.id)

        try:
            serve, contradicted, cached.attempts = await run_sync(look)
        except NotFoundError:
            self.forget(cached.tenant, cached.id)
            return
        except Exception:
            # What is in memory stays true until the database can be asked again.
            return
        self.update(cached.tenant, cached.id, serve=serve, contradicted=contradicted)

    def forget(self, tenant: str, id: str) -> None:
        """The predictor was deleted; whoever asks for it is told so by the database."""
        self._ready.pop((tenant, id), None)

    def update(self, tenant: str, id: str, *, serve: str | None = None, contradicted: bool | None = None) -> None:
        """Takes over what has changed, if the predictor is in memory at all."""
        cached = self._ready.get((tenant, id))
        if cached is not None:
            cached.serve = cached.serve if serve is None else serve
            cached.contradicted = cached.contradicted if contradicted is None else contradicted
            cached.describe()
