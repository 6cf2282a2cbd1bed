"""Things that happen to machines: kills at random moments, brokers and databases that go away, full disks."""

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from certiset.core.store.garbage import collect_garbage
from tests.core.fit.problems import QUICK
from tests.disks import fill, small_disk
from tests.servers import PrivatePostgres, PrivateRedis, children_of, wait_until
from tests.worker.deployment import (
    ENDLESS,
    FAST,
    LONG,
    Deployment,
    alive,
    deployed,
    digest_of,
    kill,
    undisturbed_digest,
)

ROUNDS = 20


def test_twenty_kills_at_random_moments_lose_and_double_nothing(deployment: Deployment) -> None:
    """Each round kills the child, the worker or both once, at a moment somewhere in the job's life."""
    chance = random.Random(2023)
    worker = deployment.start_worker()
    deployment.wait(deployment.submit())
    for round_ in range(ROUNDS):
        calibration = deployment.submit(LONG, seed=round_)
        time.sleep(chance.uniform(0.0, 2.5))
        victims = ("child", "worker", "both")[round_ % 3]
        children = children_of(worker.pid)
        kill(*(children if victims == "child" else [worker.pid] if victims == "worker" else [worker.pid, *children]))
        if victims != "child":
            worker.wait()
            deployment.workers.remove(worker)
            worker = deployment.start_worker()
        ended = deployment.wait(calibration)
        assert (ended.status, ended.error) == ("succeeded", None), f"round {round_}, {victims} killed"
        assert ended.attempts <= 2
        assert digest_of(deployment, ended) == undisturbed_digest(LONG, seed=round_)
    deployment.stop_workers()
    deployment.assert_nothing_left_over(predictors=ROUNDS + 1)
    assert all(file.sha256 is None for file in collect_garbage(deployment.store, older_than=-60))


def test_two_hundred_calibrations_through_two_workers(deployment: Deployment) -> None:
    jobs = [deployment.submit(seed=seed) for seed in range(200)]
    for _ in range(2):
        deployment.start_worker()
    for job in jobs:
        ended = deployment.wait(job, seconds=600)
        assert (ended.status, ended.attempts) == ("succeeded", 1), ended.error
    deployment.assert_nothing_left_over(predictors=200)


@pytest.fixture
def own_redis() -> Iterator[PrivateRedis]:
    with PrivateRedis.running() as server:
        yield server


def test_redis_that_comes_back_empty_loses_nothing(own_redis: PrivateRedis, tmp_path: Path) -> None:
    with deployed(tmp_path, broker_url=own_redis.url) as deployment:
        deployment.start_worker()
        running = deployment.submit({**LONG, "prior": {"steps": 1000}})
        deployment.wait_until_fitting(running)
        queued = [deployment.submit(seed=seed) for seed in range(1, 4)]
        own_redis.stop()
        # Submitted while there is no broker: the record is there, the announcement fails and is made up for later.
        orphan = deployment.submit(seed=4)
        time.sleep(1)
        own_redis.start()
        for job in (running, *queued, orphan):
            ended = deployment.wait(job)
            assert (ended.status, ended.attempts) == ("succeeded", 1), ended.error
        # And the worker hears again.
        heard = deployment.submit(seed=5)
        assert deployment.wait(heard).status == "succeeded"
        deployment.assert_nothing_left_over(predictors=6)


def test_without_any_broker_jobs_are_late_but_done(own_redis: PrivateRedis, tmp_path: Path) -> None:
    with deployed(tmp_path, broker_url=own_redis.url) as deployment:
        deployment.start_worker()
        deployment.wait(deployment.submit())
        own_redis.stop()
        assert deployment.wait(deployment.submit(seed=1)).status == "succeeded"


def test_a_worker_that_starts_without_its_broker_works_all_the_same(own_redis: PrivateRedis, tmp_path: Path) -> None:
    own_redis.stop()
    with deployed(tmp_path, broker_url=own_redis.url) as deployment:
        deployment.start_worker()
        assert deployment.wait(deployment.submit(announce=False)).status == "succeeded"


def test_a_broker_that_is_silent_holds_nobody_up(own_redis: PrivateRedis, tmp_path: Path) -> None:
    with deployed(tmp_path, broker_url=own_redis.url) as deployment:
        deployment.start_worker()
        deployment.wait(deployment.submit())
        own_redis.pause()
        begin = time.monotonic()
        calibration = deployment.submit(seed=1)
        assert time.monotonic() - begin < 15
        assert deployment.wait(calibration).status == "succeeded"
        own_redis.resume()


def test_a_fit_whose_database_hangs_is_killed_when_its_lease_ends(tmp_path: Path) -> None:
    """A stopped server accepts everything and answers nothing: no call fails, and none returns."""
    with PrivatePostgres.running() as server, deployed(tmp_path, database_url=server.url) as deployment:
        worker = deployment.start_worker()
        calibration = deployment.submit(ENDLESS)
        deployment.wait_until_fitting(calibration)
        (child,) = children_of(worker.pid)
        server.pause()
        wait_until(lambda: not alive(child), 2 * FAST["lease_seconds"] + 3, "the fit to be killed")
        server.resume()
        deployment.store.database.close()
        wait_until(lambda: deployment.state(calibration).attempts == 2, 60, "a second attempt")


def test_postgresql_that_restarts_in_the_middle_of_a_fit(tmp_path: Path) -> None:
    with PrivatePostgres.running() as server, deployed(tmp_path, database_url=server.url) as deployment:
        worker = deployment.start_worker()
        # Away for less than a lease: the attempt goes on. Away for more: it is given up and another one made.
        for seed, away in ((0, 0.0), (1, 3.5)):
            calibration = deployment.submit({**LONG, "prior": {"steps": 2500}}, seed=seed)
            deployment.wait_until_fitting(calibration)
            server.stop()
            time.sleep(away)
            server.start()
            deployment.store.database.close()
            ended = deployment.wait(calibration)
            assert ended.status == "succeeded", ended.error
        assert worker.poll() is None
        deployment.assert_nothing_left_over(predictors=2)


def test_a_full_disk_is_a_clear_failure_and_the_job_succeeds_once_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk, deployed(tmp_path, artifacts_url=str(disk)) as deployment:
        filler = disk / "filler"
        fill(filler)
        deployment.start_worker()
        calibration = deployment.submit()
        ended = deployment.wait(calibration)
        assert (ended.status, ended.attempts) == ("failed", 3)
        assert ended.error == ("The artifact store has no space left: free some, then try again. It was tried 3 times.")
        assert (ended.predictor_id, ended.certificate_id) == (None, None)
        deployment.assert_nothing_left_over(predictors=0)
        assert not any((disk / "tmp").iterdir())
        filler.unlink()
        with deployment.store.writing() as work:
            work.calibrations.retry(calibration.id)
        deployment.announcer.announce(calibration.id)
        again = deployment.wait(calibration, "succeeded")
        assert digest_of(deployment, again) == undisturbed_digest(QUICK)
        deployment.assert_nothing_left_over(predictors=1)


def test_a_worker_cut_off_from_its_lease_stops_before_another_begins(deployment: Deployment) -> None:
    """A paused worker, as on a machine that sleeps, wakes to find its lease gone and leaves the job alone."""
    first = deployment.start_worker()
    calibration = deployment.submit(ENDLESS)
    deployment.wait_until_fitting(calibration)
    for pid in (first.pid, *children_of(first.pid)):
        os.kill(pid, signal.SIGSTOP)
    second = deployment.start_worker()
    deadline = time.monotonic() + 30
    while deployment.state(calibration).attempts < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    owner = deployment.state(calibration).lease_owner
    for pid in (first.pid, *children_of(first.pid)):
        os.kill(pid, signal.SIGCONT)
    time.sleep(3)
    found = deployment.state(calibration)
    assert (found.status, found.attempts, found.lease_owner) == ("running", 2, owner)
    assert "lease was lost" in deployment.log.read_text()
    assert second.poll() is None


def test_a_worker_without_a_schema_says_what_to_do(deployment: Deployment, tmp_path: Path) -> None:
    worker = deployment.start_worker(certiset_database_url=f"sqlite:///{tmp_path / 'empty.db'}")
    assert worker.wait(timeout=30) == 2
    assert "certiset worker: The database is empty: run 'certiset migrate' first." in deployment.log.read_text()


def test_a_worker_without_its_database_says_so(deployment: Deployment) -> None:
    worker = deployment.start_worker(certiset_database_url="postgresql://nobody@127.0.0.1:1/nothing")
    assert worker.wait(timeout=30) == 2
    text = deployment.log.read_text()
    assert "certiset worker: The database is unavailable: try again in a moment. (connection failed" in text
    assert "Traceback" not in text
