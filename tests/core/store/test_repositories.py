import pytest

from certiset.core.errors import ConflictError, DuplicateError, NotFoundError
from certiset.core.store import Store
from certiset.core.store.identifiers import new_id
from tests.core.store.records import a_calibration, a_dataset, a_fit_result, a_model


def test_ids_sort_by_age_and_do_not_repeat() -> None:
    made = [new_id("cal") for _ in range(1000)]
    assert len(set(made)) == 1000
    assert all(len(id) == 30 and id.startswith("cal-") for id in made)
    assert [id[:14] for id in made] == sorted(id[:14] for id in made)


def test_pages_show_every_record_once_and_the_newest_first(store: Store) -> None:
    made = [a_dataset(store).id for _ in range(7)]
    a_dataset(store, "eve")
    seen: list[str] = []
    cursor, pages = None, 0
    while True:
        with store.reading() as work:
            page = work.datasets.list("ada", limit=3, cursor=cursor)
        seen += [item.id for item in page.items]
        cursor, pages = page.next_cursor, pages + 1
        if cursor is None:
            break
    assert pages == 3
    assert seen == sorted(made, reverse=True)


def test_what_belongs_to_another_tenant_is_not_there(store: Store) -> None:
    dataset, model, calibration = a_dataset(store), a_model(store), a_calibration(store)
    with store.writing() as work:
        claim = work.leases.claim(calibration.id)
        assert claim is not None
        work.leases.succeed(claim, a_fit_result())
    with store.reading() as work:
        for repository, id in (
            (work.datasets, dataset.id),
            (work.models, model.id),
            (work.calibrations, calibration.id),
            (work.predictors, "pred-1"),
            (work.certificates, "cert-1"),
        ):
            assert repository.get("ada", id).id == id
            with pytest.raises(NotFoundError, match=id):
                repository.get("eve", id)
            assert repository.list("eve").items == []


def test_the_same_bytes_are_one_dataset_of_a_tenant(store: Store) -> None:
    first = a_dataset(store, sha256="1" * 64)
    with pytest.raises(DuplicateError):
        a_dataset(store, sha256="1" * 64)
    a_dataset(store, "eve", sha256="1" * 64)
    a_dataset(store, sha256="1" * 64, target="z")
    with store.reading() as work:
        found = work.datasets.of_content("ada", "1" * 64, "y")
    assert found is not None
    assert found.id == first.id


def test_an_idempotency_key_finds_its_calibration(store: Store) -> None:
    made = a_calibration(store, idempotency_key="again")
    with store.reading() as work:
        found = work.calibrations.by_idempotency_key("ada", "again")
        assert found is not None
        assert found.id == made.id
        assert work.calibrations.by_idempotency_key("eve", "again") is None


def test_a_transaction_that_breaks_off_leaves_nothing(store: Store) -> None:
    def break_off() -> None:
        with store.writing() as work:
            work.keys.add(tenant="ada", name="k", scopes=["read"], digest="d" * 64)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    with store.reading() as work:
        assert work.keys.list() == []


def test_a_revoked_key_opens_nothing(store: Store) -> None:
    with store.writing() as work:
        key = work.keys.add(tenant="ada", name="k", scopes=["read"], digest="d" * 64)
    with store.reading() as work:
        found = work.keys.of_digest("d" * 64)
        assert found is not None
        assert found.scopes == ["read"]
    with store.writing() as work:
        work.keys.revoke(key.id)
    with store.reading() as work:
        assert work.keys.of_digest("d" * 64) is None
    with pytest.raises(NotFoundError), store.writing() as work:
        work.keys.revoke(key.id)


def test_certificates_are_filtered_and_paged(store: Store) -> None:
    for number in range(5):
        calibration = a_calibration(store)
        with store.writing() as work:
            claim = work.leases.claim(calibration.id)
            assert claim is not None
            work.leases.succeed(claim, a_fit_result(str(number)))
    with store.reading() as work:
        first = work.certificates.list("ada", limit=2)
        second = work.certificates.list("ada", limit=2, cursor=first.next_cursor)
        third = work.certificates.list("ada", limit=2, cursor=second.next_cursor)
        assert [c.id for page in (first, second, third) for c in page.items] == [f"cert-{n}" for n in (4, 3, 2, 1, 0)]
        assert third.next_cursor is None
        assert [c.id for c in work.certificates.list("ada", predictor_id="pred-3").items] == ["cert-3"]
        assert work.certificates.list("ada", alpha=0.2).items == []
        assert len(work.certificates.list("ada", alpha=0.1, bound="vovk_2b").items) == 5


def test_only_a_failed_or_cancelled_calibration_can_be_retried(store: Store) -> None:
    calibration = a_calibration(store)
    with pytest.raises(ConflictError, match="is queued: only a failed or cancelled one"), store.writing() as work:
        work.calibrations.retry(calibration.id)


def test_an_id_of_another_kind_and_a_name_are_said_to_be_what_they_are(store: Store) -> None:
    dataset = a_dataset(store)
    job = a_calibration(store)
    with store.writing() as work:
        work.predictors.add(job, a_fit_result())
        predictor = work.predictors.get("ada", "pred-1")
        predictor.name = "night.shift"
    with store.reading() as work:
        for wanted, noun in (
            (work.models.get, "model"),
            (work.predictors.get, "predictor"),
            (work.deployments.get, "deployment"),
        ):
            with pytest.raises(
                NotFoundError, match=f"There is no {noun} {dataset.id}: ids of datasets begin like that"
            ):
                wanted("ada", dataset.id)
        with pytest.raises(NotFoundError, match=r"There is no dataset ds-none\.$"):
            work.datasets.get("ada", "ds-none")
        with pytest.raises(NotFoundError, match="'data' is a dataset's name; its id is ds-"):
            work.datasets.get("ada", "data")
        with pytest.raises(NotFoundError, match=r"'night\.shift' is a predictor's name; its id is pred-1\.$"):
            work.deployments.get("ada", "night.shift")
        with pytest.raises(NotFoundError, match=r"There is no deployment night\.shift\.$"):
            work.deployments.get("eve", "night.shift")
