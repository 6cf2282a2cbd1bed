"""Messages wake workers, and nothing depends on them: lost, doubled or nonsense, every job is done once."""

from tests.worker.deployment import (
    LONG,
    PATIENCE,
    Deployment,
)


def test_a_message_that_comes_three_times_is_one_fit(deployment: Deployment) -> None:
    calibration = deployment.submit(LONG)
    deployment.announcer.announce(calibration.id)
    deployment.start_worker()
    deployment.start_worker()
    deployment.wait(calibration)
    deployment.announcer.announce(calibration.id)
    deployment.wait(deployment.submit(seed=1))
    assert deployment.state(calibration).attempts == 1


def test_a_lost_message_is_only_late(running: Deployment) -> None:
    assert running.wait(running.submit(announce=False, seed=11)).status == "succeeded"


def test_a_message_for_nothing_and_a_message_that_is_nonsense_do_no_harm(running: Deployment) -> None:
    running.announcer.announce("cal-unknown")
    running.announcer.announce({"not": ["an", "id"]})  # type: ignore[arg-type]
    assert running.wait(running.submit(seed=12)).status == "succeeded"


def test_a_tenant_does_not_wait_behind_all_that_another_has_queued(deployment: Deployment) -> None:
    """One device, and messages in the order of the requests: the message of the last one is behind all others."""
    greedy = [deployment.submit(seed=seed) for seed in range(12)]
    victim = deployment.submit(tenant="victim")
    deployment.start_worker()
    assert deployment.wait(victim, seconds=3 * PATIENCE).status == "succeeded"
    assert sum(deployment.state(job).finished_at is not None for job in greedy) <= 2


def test_a_message_wakes_a_worker_whatever_it_names(deployment: Deployment) -> None:
    deployment.start_worker(certiset_message_seconds=1000)
    calibration = deployment.submit(announce=False)
    deployment.announcer.announce("cal-deleted")
    assert deployment.wait(calibration).status == "succeeded"


def test_one_message_is_enough_for_all_that_is_queued(deployment: Deployment) -> None:
    jobs = [deployment.submit(announce=False, seed=seed) for seed in range(3)]
    deployment.start_worker(certiset_message_seconds=1000)
    deployment.announcer.announce(jobs[0].id)
    assert {deployment.wait(job).status for job in jobs} == {"succeeded"}


def test_two_workers_share_the_work(deployment: Deployment) -> None:
    for _ in range(2):
        # Long leases: both start at once, and a slow machine must not take a job away from either.
        deployment.start_worker(certiset_lease_seconds=30)
    jobs = [deployment.submit(seed=seed) for seed in range(8)]
    assert {deployment.wait(job).status for job in jobs} == {"succeeded"}
    assert {deployment.state(job).attempts for job in jobs} == {1}
    deployment.assert_nothing_left_over(predictors=8)


def test_equal_calibrations_at_the_same_time_end_in_one_predictor(deployment: Deployment) -> None:
    for _ in range(2):
        deployment.start_worker()
    jobs = [deployment.submit() for _ in range(6)]
    ended = [deployment.wait(job) for job in jobs]
    assert {job.status for job in ended} == {"succeeded"}
    assert len({job.predictor_id for job in ended}) == 1
    deployment.assert_nothing_left_over(predictors=1)
