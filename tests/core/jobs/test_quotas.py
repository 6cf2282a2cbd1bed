"""Quotas hold, also for those who ask at the same moment, and a refusal says what to do."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.errors import CertisetError, LargerThanQuotaError, QuotaExceededError
from certiset.core.graphs.row_proof.verdict import PROVED
from certiset.core.jobs import add_dataset, add_model, calibrations, deletion
from certiset.core.jobs.calibrations import CalibrationRequest, request_calibration
from certiset.core.store import Store
from certiset.core.store.garbage import orphans
from certiset.core.store.records import Dataset
from tests.core.store.records import a_dataset, a_fit_result, a_model

LOGITS = {"name": "logits", "task": "classification", "classes": 3, "input_shape": [3]}


@pytest.fixture
def upload(store: Store, tmp_path: Path) -> Callable[..., Dataset]:
    def one(seed: int, rows: int = 20) -> Dataset:
        random, file = np.random.default_rng(seed), tmp_path / f"data-{seed}.npz"
        np.savez(file, x=random.normal(size=(rows, 3)), y=random.integers(3, size=rows))
        return add_dataset(store, "ada", file, filename=file.name)[0]

    return one


def allow(store: Store, **quotas: int) -> None:
    with store.writing() as work:
        work.tenants.set_quotas("ada", dict(quotas))


def together(step: Callable[[int], Any], times: int) -> list[Any]:
    """What each returns or raises, all at once."""

    def caught(number: int) -> Any:
        try:
            return step(number)
        except CertisetError as error:
            return error

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(caught, range(times)))


def test_of_uploads_at_the_same_moment_only_as_many_are_accepted_as_the_quota_allows(
    store: Store, upload: Callable[..., Dataset]
) -> None:
    allow(store, datasets=2)
    results = together(upload, 6)
    assert sum(isinstance(found, Dataset) for found in results) == 2
    refusal = next(found for found in results if not isinstance(found, Dataset))
    assert isinstance(refusal, QuotaExceededError)
    assert str(refusal).startswith(
        "2 of 2 data sets are in use, which leaves no room for one more: delete data sets that are no longer needed"
    )
    with store.reading() as work:
        assert work.tenants.usage("ada").datasets == 2


def test_bytes_are_those_that_are_stored_and_deleting_makes_room(store: Store, upload: Callable[..., Dataset]) -> None:
    first = upload(1)
    with store.reading() as work:
        used = work.tenants.usage("ada")
    assert used.bytes == len(store.artifacts.get(first.artifact))
    assert (used.rows, used.datasets) == (20, 1)
    allow(store, bytes=used.bytes + 10)
    with pytest.raises(QuotaExceededError, match=f"{used.bytes:,} of {used.bytes + 10:,} bytes are in use"):
        upload(2)
    assert orphans(store, older_than=-60) == [], "what is refused is not written"
    assert upload(1).id == first.id, "what is there already needs no room"
    deletion.delete_dataset(store, "ada", first.id)
    assert upload(2).rows == 20


def test_what_is_larger_than_the_whole_quota_is_refused_as_too_large(
    store: Store, upload: Callable[..., Dataset]
) -> None:
    allow(store, rows=19)
    with pytest.raises(LargerThanQuotaError, match="has 20 rows, more than the whole quota of 19: make it smaller"):
        upload(1)


def test_rows_and_models_are_counted(store: Store, upload: Callable[..., Dataset]) -> None:
    allow(store, rows=30, models=1)
    upload(1)
    with pytest.raises(QuotaExceededError, match="20 of 30 rows are in use"):
        upload(2)
    model, _ = add_model(store, "ada", LOGITS)
    assert add_model(store, "ada", {**LOGITS, "name": "logits"})[0].id == model.id
    with pytest.raises(QuotaExceededError, match="1 of 1 models are in use"):
        add_model(store, "ada", {**LOGITS, "classes": 4, "input_shape": [4]})
    assert add_model(store, "bob", LOGITS)[1], "quotas are each tenant's own"


def test_no_more_calibrations_are_queued_than_the_quota_allows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrations, "_checked", lambda *_: ({"alpha": 0.1}, PROVED))
    allow(store, queued_jobs=3)
    request = CalibrationRequest(dataset_id=a_dataset(store).id, model_id=a_model(store).id)

    class Silent:
        def announce(self, calibration_id: str) -> bool:
            return True

    def ask(_: int) -> Any:
        return request_calibration(store, "ada", request, announcer=Silent())  # type: ignore[arg-type]

    results = together(ask, 8)
    refused = [found for found in results if isinstance(found, QuotaExceededError)]
    assert len(refused) == 5
    assert "3 of 3 queued jobs are in use" in str(refused[0])
    assert "wait until some have begun, or cancel some" in str(refused[0])
    with store.writing() as work:
        claim = work.turns.claim()
    assert claim is not None
    assert ask(0).status == "queued"
    allow(store, queued_jobs=0, predictors=4)
    with pytest.raises(QuotaExceededError, match="4 of 4 predictors are in use"):
        ask(0)
    with store.writing() as work:
        assert work.leases.succeed(claim, a_fit_result())
        assert work.tenants.usage("ada").predictors == 1


def test_an_operators_quota_replaces_that_of_the_settings_until_it_is_taken_back(store: Store) -> None:
    strict = Store(replace(store.settings, quota_models=5, quota_rows=0))
    with strict.writing() as work:
        assert (work.tenants.allowed("ada").models, work.tenants.allowed("ada").rows) == (5, 0)
        assert work.tenants.set_quotas("ada", {"models": 9}).models == 9
    with strict.writing() as work:
        assert work.tenants.allowed("ada").models == 9
        assert work.tenants.allowed("bob").models == 5
        assert work.tenants.set_quotas("ada", {"models": None}).models == 5
    strict.close()
