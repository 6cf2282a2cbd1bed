"""What is deleted is gone, what was made with it goes on, and nothing is deleted that a calibration still needs."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from certiset.core.errors import ArtifactsUnavailableError, CertisetError, ConflictError, NotFoundError, WithdrawnError
from certiset.core.graphs.row_proof.verdict import PROVED
from certiset.core.jobs import calibrations, deletion
from certiset.core.jobs.calibrations import CalibrationRequest, request_calibration
from certiset.core.store import Store
from certiset.core.store.calibrations import Calibrations
from certiset.core.store.datasets import Datasets
from certiset.core.store.garbage import orphans
from certiset.core.store.leases import Claim
from certiset.core.store.models import Models
from certiset.core.store.monitors import Levels
from certiset.core.store.outcomes import Reported
from certiset.core.store.records import Calibration
from tests.core.store.records import a_calibration, a_dataset, a_fit_result, a_model, state

PATIENCE = 20.0


class Silent:
    """An announcer that nobody hears."""

    def announce(self, calibration_id: str) -> bool:
        return True


def claimed(store: Store) -> Claim:
    with store.writing() as work:
        claim = work.turns.claim()
    assert claim is not None
    return claim


def fitted(store: Store, calibration: Calibration) -> None:
    claim = claimed(store)
    assert claim.calibration.id == calibration.id
    with store.writing() as work:
        assert work.leases.succeed(claim, a_fit_result())


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are accepted without data: only the database matters here."""
    monkeypatch.setattr(calibrations, "_checked", lambda *_: ({"alpha": 0.1}, PROVED))


def ask(store: Store, dataset_id: str, model_id: str) -> Calibration:
    request = CalibrationRequest(dataset_id=dataset_id, model_id=model_id)
    return request_calibration(store, "ada", request, announcer=Silent())  # type: ignore[arg-type]


def paused(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> threading.Event:
    """The step pauses before its transaction commits; the event says when it has been made."""
    made, original = threading.Event(), getattr(owner, name)

    def slow(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        arguments[0]._session.flush()
        made.set()
        threading.Event().wait(0.5)
        return result

    monkeypatch.setattr(owner, name, slow)
    return made


def outcome(future: "Future[Any]") -> Any:
    try:
        return future.result(timeout=PATIENCE)
    except CertisetError as error:
        return type(error)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("kind", "repository"), [("dataset", Datasets), ("model", Models)])
def test_deleting_and_calibrating_at_the_same_moment_ends_in_one_of_the_two(
    store: Store, monkeypatch: pytest.MonkeyPatch, kind: str, repository: Any
) -> None:
    delete: Callable[[Store, str, str], None] = getattr(deletion, f"delete_{kind}")
    for first in ("calibrating", "deleting"):
        dataset, model = a_dataset(store), a_model(store)
        id = dataset.id if kind == "dataset" else model.id
        with monkeypatch.context() as patch, ThreadPoolExecutor(2) as pool:
            if first == "calibrating":
                made = paused(patch, Calibrations, "create")
                asked = pool.submit(ask, store, dataset.id, model.id)
                assert made.wait(PATIENCE)
                deleted = pool.submit(delete, store, "ada", id)
                assert outcome(deleted) is ConflictError
                assert outcome(asked).status == "queued"
            else:
                made = paused(patch, repository, "delete")
                deleted = pool.submit(delete, store, "ada", id)
                assert made.wait(PATIENCE)
                asked = pool.submit(ask, store, dataset.id, model.id)
                assert outcome(asked) is NotFoundError
                assert outcome(deleted) is None


@pytest.mark.usefixtures("unchecked")
def test_many_races_between_deleting_and_calibrating_leave_no_calibration_without_its_data(store: Store) -> None:
    model = a_model(store)
    for _ in range(10):
        dataset = a_dataset(store)
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(ask, store, dataset.id, model.id) for _ in range(3)]
            deleted = pool.submit(deletion.delete_dataset, store, "ada", dataset.id)
            begun = [found for future in asked if isinstance(found := outcome(future), Calibration)]
            assert outcome(deleted) is (ConflictError if begun else None)


def test_a_model_is_needed_until_its_calibration_has_ended(store: Store) -> None:
    calibration = a_calibration(store)
    with pytest.raises(ConflictError, match=f"{calibration.id}, which needs this model, has not ended: cancel it"):
        deletion.delete_model(store, "ada", calibration.model_id)
    fitted(store, calibration)
    deletion.delete_model(store, "ada", calibration.model_id)
    with store.reading() as work:
        with pytest.raises(NotFoundError):
            work.models.get("ada", calibration.model_id)
        assert work.predictors.get("ada", "pred-1").id == "pred-1"


def test_only_the_owner_deletes(store: Store) -> None:
    calibration = a_calibration(store)
    fitted(store, calibration)
    for delete, id in (
        (deletion.delete_dataset, calibration.dataset_id),
        (deletion.delete_model, calibration.model_id),
        (deletion.delete_predictor, "pred-1"),
        (deletion.delete_calibration, calibration.id),
    ):
        with pytest.raises(NotFoundError):
            delete(store, "eve", id)


@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_calibration_must_have_ended_before_it_is_deleted(store: Store, status: str) -> None:
    calibration = a_calibration(store)
    if status == "running":
        claimed(store)
    with pytest.raises(ConflictError, match=f"is {status}: cancel it first"):
        deletion.delete_calibration(store, "ada", calibration.id)
    assert state(store, calibration).status == status


def test_a_deleted_calibration_leaves_predictor_and_certificate(store: Store) -> None:
    calibration = a_calibration(store, idempotency_key="once")
    fitted(store, calibration)
    deletion.delete_calibration(store, "ada", calibration.id)
    with store.reading() as work:
        assert work.calibrations.find(calibration.id) is None
        assert work.calibrations.by_idempotency_key("ada", "once") is None
        assert [record.id for record in work.predictors.list("ada").items] == ["pred-1"]
        assert work.certificates.get("ada", "cert-1").document == "{}"


def test_a_deleted_predictor_is_withdrawn_and_an_equal_fit_brings_it_back(store: Store) -> None:
    fitted(store, a_calibration(store))
    deletion.delete_predictor(store, "ada", "pred-1")
    with store.reading() as work:
        assert work.predictors.list("ada").items == []
        with pytest.raises(WithdrawnError, match="Predictor pred-1 was deleted"):
            work.predictors.get("ada", "pred-1")
        assert [record.id for record in work.certificates.list("ada", validity="withdrawn").items] == ["cert-1"]
        assert work.certificates.list("ada", validity="consistent").items == []
    with pytest.raises(WithdrawnError):
        deletion.delete_predictor(store, "ada", "pred-1")
    again = a_calibration(store)
    fitted(store, again)
    with store.reading() as work:
        assert work.predictors.get("ada", "pred-1").calibration_id == again.id
        assert [record.id for record in work.certificates.list("ada", validity="consistent").items] == ["cert-1"]


def test_a_contradiction_outlives_its_predictor(store: Store) -> None:
    """An equal fit has the same ids: whoever deletes and fits again does not begin with a clean record."""
    fitted(store, a_calibration(store))
    misses = [Reported(f"{number:024x}", missed=True) for number in range(60)]
    with store.writing() as work:
        work.outcomes.add("ada", "pred-1", misses, Levels(0.1, 0.01, None))
    deletion.delete_predictor(store, "ada", "pred-1")
    fitted(store, a_calibration(store))
    with store.reading() as work:
        assert work.outcomes.monitor("ada", "pred-1").contradicted_at is not None
        assert [record.id for record in work.certificates.list("ada", validity="contradicted").items] == ["cert-1"]


def test_files_of_what_was_deleted_are_collected_and_those_that_others_name_are_kept(store: Store) -> None:
    shared, own = (store.artifacts.put(content) for content in (b"shared", b"own"))
    first, second = a_model(store, artifact=shared), a_model(store, "eve", artifact=shared)
    dataset = a_dataset(store, artifact=own)
    deletion.delete_model(store, "ada", first.id)
    deletion.delete_dataset(store, "ada", dataset.id)
    assert [file.sha256 for file in orphans(store, older_than=-60)] == [own]
    deletion.delete_model(store, "eve", second.id)
    assert sorted(str(file.sha256) for file in orphans(store, older_than=-60)) == sorted([own, shared])


def test_a_record_is_deleted_though_the_artifact_store_is_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = a_dataset(store, artifact=store.artifacts.put(b"own"))

    def discard(*_: object) -> bool:
        raise ArtifactsUnavailableError("The artifact store cannot be written: it does not answer.")

    with monkeypatch.context() as away:
        away.setattr(store.artifacts, "discard", discard)
        deletion.delete_dataset(store, "ada", dataset.id)
    with store.reading() as work, pytest.raises(NotFoundError):
        work.datasets.get("ada", dataset.id)
    assert [file.sha256 for file in orphans(store, older_than=-60)] == [dataset.artifact], "a worker finds it later"
