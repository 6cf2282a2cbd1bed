"""The same request under the same key is one job, of whatever kind, however many make it at once."""

from collections.abc import Callable

import pytest

from certiset.core.errors import ConflictError
from certiset.core.graphs.row_proof.verdict import PROVED
from certiset.core.jobs import calibrations
from certiset.core.jobs.batches import BatchRequest, request_batch
from certiset.core.jobs.calibrations import CalibrationRequest, request_calibration
from certiset.core.store import Store
from tests.core.jobs.deployment_world import at_once
from tests.core.jobs.test_batches import a_predictor
from tests.core.jobs.test_calibrations import Told
from tests.core.store.records import a_dataset, a_model

Ask = Callable[[str], str]
"""asks for a job of that name, always under the same key; its id"""


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture(params=["calibration", "batch"])
def ask(request: pytest.FixtureRequest, store: Store, told: Told, monkeypatch: pytest.MonkeyPatch) -> Ask:
    # Only the database matters here.
    monkeypatch.setattr(calibrations, "_checked", lambda *_: ({"alpha": 0.1}, PROVED))
    predictor, dataset, model = a_predictor(store), a_dataset(store), a_model(store)

    def batch(name: str) -> str:
        wanted = BatchRequest(predictor=predictor, dataset_id=dataset.id, name=name)
        return request_batch(store, "ada", wanted, predictor, idempotency_key="k", announcer=told).id  # type: ignore[arg-type]

    def calibration(name: str) -> str:
        wanted = CalibrationRequest(dataset_id=dataset.id, model_id=model.id, name=name)
        return request_calibration(store, "ada", wanted, idempotency_key="k", announcer=told).id  # type: ignore[arg-type]

    return batch if request.param == "batch" else calibration


def test_of_many_who_ask_at_once_one_queues_it_and_tells_the_workers(ask: Ask, told: Told) -> None:
    ids: list[str] = []
    at_once(lambda: ids.append(ask("first")))
    assert len(ids) == 4
    assert set(ids) == set(told.ids)
    assert len(told.ids) == 1


def test_of_many_who_ask_for_different_jobs_at_once_all_but_one_are_refused(ask: Ask, told: Told) -> None:
    names, refused = iter(["first", "second", "third", "fourth"]), []

    def one() -> None:
        try:
            ask(next(names))
        except ConflictError as error:
            refused.append(str(error))

    at_once(one)
    assert refused == ["This Idempotency-Key was used for another request."] * 3
    assert len(told.ids) == 1
