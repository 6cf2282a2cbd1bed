"""The inference queue and the loaded predictors, by themselves."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from certiset.core.certificate.issuer_keys import IssuerKeys
from certiset.core.certificate.signing import Signer
from certiset.core.errors import DataError, NotFoundError, OtherArithmeticError
from certiset.core.fit import Predictor, fit
from certiset.core.graphs import GraphHost
from certiset.core.settings import Settings
from certiset.service.serving.inference import BusyError, InferenceThread, InferenceThreads
from certiset.service.serving.predictor_cache import PredictorCache
from certiset.service.shares import Shares
from tests.core.fit.problems import QUICK, class_data, class_model, toy_data, toy_model
from tests.databases import new_store
from tests.service.server import enter_predictor

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), *class_data(300, 0), **QUICK)


def members(rows: int) -> NDArray[np.int64]:
    return np.zeros(rows, dtype=np.int64)


@pytest.mark.parametrize("rows", [1, 3, 64, 65, 500])
def test_many_at_once_get_what_each_gets_alone(predictor: Predictor, rows: int) -> None:
    x = class_data(40 * rows, 1)[0]

    async def ask() -> list[Any]:
        thread = InferenceThread(CPU, Shares(10**9))
        parts = [x[start : start + rows] for start in range(0, len(x), rows)]
        answers = await asyncio.gather(*(thread.sets_of("ada", predictor, part, members(len(part))) for part in parts))
        thread.close()
        return [answer.sets for answer in answers]

    for place, sets in enumerate(asyncio.run(ask())):
        alone: Any = predictor.predict_set(x[place * rows : (place + 1) * rows], member=0)
        assert np.array_equal(sets.mask, alone.mask)


def test_a_full_queue_turns_requests_away_at_once_and_recovers(predictor: Predictor) -> None:
    x = class_data(200, 1)[0]

    async def ask() -> list[Any]:
        thread = InferenceThread(CPU, Shares(5000))
        results = await asyncio.gather(
            *(thread.sets_of("ada", predictor, x, members(200)) for _ in range(5)), return_exceptions=True
        )
        results.append(await thread.sets_of("ada", predictor, x, members(200)))
        thread.close()
        return results

    first, second, *others, last = asyncio.run(ask())
    assert len(first.sets) == len(second.sets) == len(last.sets) == 200
    assert [type(other) for other in others] == [BusyError] * 3


def test_one_tenants_backlog_refuses_nobody_elses_requests(predictor: Predictor) -> None:
    x = class_data(2000, 1)[0]

    async def ask() -> tuple[list[Any], list[Any]]:
        thread = InferenceThread(CPU, Shares(50_000))
        flood = [asyncio.create_task(thread.sets_of("eve", predictor, x, members(2000))) for _ in range(20)]
        await asyncio.sleep(0)
        served = [await thread.sets_of("ada", predictor, x[:rows], members(rows)) for rows in (1, 100, 2000)]
        results = await asyncio.gather(*flood, return_exceptions=True)
        thread.close()
        return served, results

    served, flood = asyncio.run(ask())
    assert [len(answer.sets) for answer in served] == [1, 100, 2000]
    assert [isinstance(result, BusyError) for result in flood] == [False] * 2 + [True] * 18


def test_few_rows_with_many_classes_are_not_computed_on_the_event_loop(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[str] = []
    real = Predictor.sets_of

    def noted(self: Predictor, inputs: NDArray[Any], chosen: NDArray[np.int64]) -> Any:
        places.append(threading.current_thread().name)
        return real(self, inputs, chosen)

    monkeypatch.setattr(Predictor, "sets_of", noted)

    async def ask() -> None:
        thread = InferenceThread(CPU, Shares(10**9))
        wide = replace(predictor)
        vars(wide)["row_numbers"] = 100_000
        for served in (predictor, wide):
            await thread.sets_of("ada", served, class_data(1, 1)[0], members(1))
        thread.close()

    asyncio.run(ask())
    assert places == ["MainThread", "inference cpu"]


def test_a_large_request_is_put_together_in_the_order_of_its_rows(predictor: Predictor) -> None:
    x = class_data(30_000, 1)[0]
    chosen = predictor.draw_members(len(x))

    async def ask() -> Any:
        thread = InferenceThread(CPU, Shares(10**9))
        large, small = await asyncio.gather(
            thread.sets_of("ada", predictor, x, chosen), thread.sets_of("ada", predictor, x[:2000], chosen[:2000])
        )
        thread.close()
        return large.sets, small.sets

    large, small = asyncio.run(ask())
    expected: Any = predictor.predict_set(x, member=chosen)
    assert np.array_equal(large.mask, expected.mask)
    assert np.array_equal(small.mask, expected.mask[:2000])


def test_one_request_larger_than_the_queue_is_served_when_nobody_waits(predictor: Predictor) -> None:
    async def ask() -> Any:
        thread = InferenceThread(CPU, Shares(10))
        answer = await thread.sets_of("ada", predictor, class_data(100, 1)[0], members(100))
        thread.close()
        return answer

    assert len(asyncio.run(ask()).sets) == 100


def test_a_request_that_fails_does_not_take_others_with_it(predictor: Predictor) -> None:
    """A row so large that the head overflows."""
    good, bad = class_data(1, 1)[0].astype(np.float64), np.full((1, 2), 1e300)

    async def ask() -> list[Any]:
        thread = InferenceThread(CPU, Shares(1000))
        rows = [good, bad, good, bad, good]
        results = await asyncio.gather(
            *(thread.sets_of("ada", predictor, row, members(1)) for row in rows), return_exceptions=True
        )
        thread.close()
        return results

    results = asyncio.run(ask())
    assert [isinstance(result, DataError) for result in results] == [False, True, False, True, False]


def test_a_cancelled_request_is_not_computed_and_frees_its_place(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []
    real = Predictor.sets_of

    def counted(self: Predictor, inputs: NDArray[Any], chosen: NDArray[np.int64]) -> Any:
        computed.append(len(inputs))
        return real(self, inputs, chosen)

    monkeypatch.setattr(Predictor, "sets_of", counted)

    async def ask() -> None:
        thread = InferenceThread(CPU, Shares(100))
        task = asyncio.create_task(thread.sets_of("ada", predictor, class_data(60, 1)[0], members(60)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        answer = await thread.sets_of("ada", predictor, class_data(64, 1)[0], members(64))
        assert len(answer.sets) == 64
        thread.close()

    asyncio.run(ask())
    assert computed == [64]


def test_a_predictor_is_loaded_once_however_many_ask_and_the_least_used_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(Settings(home=tmp_path))
    made = [fit(toy_model(), *toy_data(300, seed), **QUICK) for seed in range(3)]
    for predictor in made:
        enter_predictor(store, predictor)
    ids = [predictor.certificate.predictor_id for predictor in made]
    loads: list[str] = []
    real = PredictorCache._read

    def counted(self: PredictorCache, tenant: str, id: str) -> Any:
        loads.append(id)
        return real(self, tenant, id)

    monkeypatch.setattr(PredictorCache, "_read", counted)

    async def ask() -> None:
        inference = InferenceThreads.on("cpu", 1000)
        keys = IssuerKeys(Signer.from_file_or_new(store.settings.signing_key).public_key)
        cache = PredictorCache(store, 10**9, inference, GraphHost(), keys)
        found = await asyncio.gather(*(cache.get("ada", ids[0]) for _ in range(20)))
        assert loads == [ids[0]]
        assert len({id(one) for one in found}) == 1
        small = PredictorCache(store, int(2.5 * found[0].memory), inference, GraphHost(), keys)
        for id_ in (ids[0], ids[1], ids[0], ids[2]):
            await small.get("ada", id_)
        loads.clear()
        await small.get("ada", ids[0])
        assert loads == [], "the one used last is still there"
        await small.get("ada", ids[1])
        assert loads == [ids[1]], "the one not used for longest was dropped"
        assert small.memory <= 2.5 * found[0].memory
        with pytest.raises(NotFoundError):
            await small.get("ada", "pred-0")
        with pytest.raises(NotFoundError):
            await small.get("eve", ids[0])
        inference.close()

    asyncio.run(ask())
    store.close()


def test_a_predictor_that_computes_other_numbers_here_is_not_served(tmp_path: Path, predictor: Predictor) -> None:
    canaries = predictor.certificate.canaries
    assert canaries is not None
    outputs = [[[1.001 * value + 0.001 for value in row] for row in rows] for rows in canaries.outputs]
    changed = replace(predictor.certificate, canaries=replace(canaries, outputs=outputs))
    store = new_store(Settings(home=tmp_path))
    enter_predictor(store, replace(predictor, certificate=replace(changed, id=changed.digest_id)))

    async def ask() -> None:
        keys = IssuerKeys(Signer.from_file_or_new(store.settings.signing_key).public_key)
        cache = PredictorCache(store, 10**9, InferenceThreads.on("cpu", 1000), GraphHost(), keys)
        for _ in range(2):
            with pytest.raises(OtherArithmeticError, match="so it is not served"):
                await cache.get("ada", changed.predictor_id)
        assert not cache.has_any

    asyncio.run(ask())
    store.close()
