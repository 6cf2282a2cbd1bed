"""Tenants take turns, whatever one of them has queued, and no two workers are given the same calibration."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from sqlalchemy import update

from certiset.core.store import Store
from certiset.core.store.clock import now
from certiset.core.store.leases import Claim
from certiset.core.store.records import Calibration
from tests.core.store.records import a_calibration, a_dataset, a_fit_result, a_model, state


def queue(store: Store, tenant: str, number: int = 1) -> list[Calibration]:
    dataset, model = a_dataset(store, tenant), a_model(store, tenant)
    with store.writing() as work:
        return [work.calibrations.create(dataset, model, {"alpha": 0.1}) for _ in range(number)]


def next_claim(store: Store) -> Claim | None:
    with store.writing() as work:
        return work.turns.claim()


def next_tenants(store: Store, number: int) -> list[str]:
    claims = [next_claim(store) for _ in range(number)]
    return [claim.calibration.tenant for claim in claims if claim is not None]


def end(store: Store, claim: Claim | None) -> None:
    assert claim is not None
    with store.writing() as work:
        assert work.leases.fail(claim, "The data are wrong.")


def test_a_tenant_that_queues_two_hundred_fits_delays_nobody_by_more_than_one(store: Store) -> None:
    queue(store, "greedy", 200)
    (victim,) = queue(store, "victim")
    first, second = next_claim(store), next_claim(store)
    assert first is not None
    assert second is not None
    assert victim.id in (first.calibration.id, second.calibration.id)


def test_with_one_device_tenants_take_turns(store: Store) -> None:
    for tenant, number in (("ada", 4), ("bob", 4), ("eve", 2)):
        queue(store, tenant, number)
    order = []
    while (claim := next_claim(store)) is not None:
        order.append(claim.calibration.tenant)
        end(store, claim)
    assert order == ["ada", "bob", "eve", "ada", "bob", "eve", "ada", "bob", "ada", "bob"]


def test_the_tenant_with_the_fewest_running_comes_first(store: Store) -> None:
    queue(store, "ada", 5)
    assert next_tenants(store, 2) == ["ada", "ada"]
    queue(store, "bob", 3)
    assert next_tenants(store, 4) == ["bob", "bob", "ada", "bob"]


def test_within_a_tenant_the_oldest_job_comes_first(store: Store) -> None:
    jobs = [a_calibration(store) for _ in range(3)]
    ids = sorted(job.id for job in jobs)
    assert [claim.calibration.id for _ in jobs if (claim := next_claim(store))] == ids


def test_a_job_that_waits_for_its_retry_or_was_cancelled_is_passed_over(store: Store) -> None:
    paused, cancelled, ready = a_calibration(store), a_calibration(store), a_calibration(store)
    with store.writing() as work:
        work.session.execute(update(Calibration).where(Calibration.id == paused.id).values(not_before=now() + 100))
        work.calibrations.cancel(cancelled.id)
    claim = next_claim(store)
    assert claim is not None
    assert claim.calibration.id == ready.id
    assert next_claim(store) is None


def test_calibrations_over_the_quota_of_running_ones_wait_and_others_are_served(store: Store) -> None:
    with store.writing() as work:
        work.tenants.set_quotas("ada", {"running_jobs": 1})
    queue(store, "ada", 3)
    held = next_claim(store)
    assert held is not None
    assert next_claim(store) is None
    queue(store, "bob", 2)
    assert next_tenants(store, 3) == ["bob", "bob"]
    with store.writing() as work:
        assert work.leases.succeed(held, a_fit_result())
    assert next_tenants(store, 3) == ["ada"]


def test_the_quota_of_running_calibrations_holds_for_tenants_without_one_of_their_own(store: Store) -> None:
    limited = Store(replace(store.settings, quota_running_jobs=2))
    queue(store, "ada", 4)
    assert next_tenants(limited, 4) == ["ada", "ada"]
    limited.close()


def test_of_many_workers_each_gets_another_calibration(store: Store) -> None:
    jobs = queue(store, "ada", 6) + queue(store, "bob", 6)
    with ThreadPoolExecutor(8) as pool:
        claims = [claim for claim in pool.map(lambda _: next_claim(store), range(24)) if claim is not None]
    assert sorted(claim.calibration.id for claim in claims) == sorted(job.id for job in jobs)
    assert {state(store, job).attempts for job in jobs} == {1}


def test_workers_that_claim_at_the_same_moment_never_run_more_than_the_quota(store: Store) -> None:
    with store.writing() as work:
        work.tenants.set_quotas("ada", {"running_jobs": 3})
    queue(store, "ada", 12)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: next_claim(store), range(24)))
    assert sum(claim is not None for claim in claims) == 3
