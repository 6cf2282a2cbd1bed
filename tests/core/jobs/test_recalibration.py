"""Reported outcomes calibrate the next predictor: once a block, whatever is killed, on which account."""

import time
from dataclasses import replace
from typing import Any

import pytest

from certiset.core.certificate import Certificate
from certiset.core.deployment_resources import DeploymentRequest
from certiset.core.errors import ConflictError
from certiset.core.jobs import recalibration
from certiset.core.jobs.deployments import delete_deployment, roll_back, set_deployment
from tests.core.jobs.deployment_world import ROWS, World, at_once


def test_a_block_ends_by_its_rows_and_calibrates_the_next_predictor_once(world: World) -> None:
    world.set()
    assert world.report(world.asked(ROWS - 1)) == ROWS - 1
    world.advance()
    assert world.jobs == []
    # One report may end a block and begin the next.
    assert world.report(world.asked(5)) == 5
    block = world.now.block
    assert block is not None
    assert (block.number, block.rows) == (2, 4)
    at_once(world.advance)
    (job,) = world.jobs
    assert set(world.announced) == {job.id}
    with world.store.reading() as work:
        dataset = work.datasets.get("ada", job.dataset_id)
        assert (dataset.rows, dataset.x_shape) == (ROWS, [2])
        assert work.tenants.usage("ada").rows >= ROWS + 4
    assert world.now.block is not None
    assert world.now.block.waiting == (job.id,)
    before = world.now
    world.end(job, 2)
    at_once(world.advance)
    after = world.now
    assert (after.predictor, after.version) == (world.id(2), before.version + 1)
    assert world.kinds == ["created", "calibrating", "recalibrated"]
    assert after.delta_all == pytest.approx(0.1)
    assert after.predictors == 2
    # Rows of the next block were not touched by any of this.
    assert after.block is not None
    assert after.block.rows == 4


def test_a_worker_that_is_killed_in_between_is_picked_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.set()
    world.report(world.asked(ROWS))
    for step in ("make_dataset", "_queued"):
        real = getattr(recalibration, step)

        def killed(*arguments: Any, real: Any = real, **named: Any) -> Any:
            real(*arguments, **named)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(recalibration, step, killed)
            with pytest.raises(KeyboardInterrupt):
                world.advance()
        assert world.kinds == ["created"]
    world.advance()
    (job,) = world.jobs
    assert world.kinds == ["created", "calibrating"]
    with world.store.reading() as work:
        assert [one.rows for one in work.datasets.list("ada").items].count(ROWS) == 1
        assert work.tenants.usage("ada").queued_jobs == 1
    assert job.dataset_id


def test_a_calibration_that_fails_leaves_the_predictor_and_is_on_the_account(world: World) -> None:
    world.set()
    world.report(world.asked(ROWS))
    world.advance()
    world.fail(world.jobs[0])
    world.advance()
    world.advance()
    assert world.kinds == ["created", "calibrating", "failed"]
    assert world.now.predictor == world.id(0)
    assert world.now.delta_all == pytest.approx(0.1)
    # The next block is calibrated on its own rows alone.
    world.report(world.asked(ROWS))
    world.advance()
    world.end(world.jobs[1], 2)
    world.advance()
    assert world.now.predictor == world.id(2)
    assert world.now.delta_all == pytest.approx(0.15)


def test_a_slow_calibration_does_not_replace_what_came_later(world: World) -> None:
    world.set()
    world.report(world.asked(2 * ROWS))
    world.advance()
    first, second = world.jobs
    world.end(second, 2)
    world.advance()
    world.end(first, 1)
    world.advance()
    assert world.now.predictor == world.id(2)


@pytest.mark.parametrize("recalibrates", [True, False])
def test_after_a_contradiction_only_rows_that_were_asked_later_calibrate(world: World, recalibrates: bool) -> None:
    world.set(on_contradiction=recalibrates)
    early = world.asked(3)
    world.report(world.asked(ROWS + 10))
    world.advance()
    missed = [replace(outcome, y=(outcome.y + 1) % 3) for outcome in world.asked(60)]
    world.report(missed)
    assert "contradicted" in world.kinds
    block = world.now.block
    assert block is not None
    if not recalibrates:
        # Blocks end by their rows, whatever the monitor says.
        assert (block.rows, world.report(early)) == (70, 3)
        return
    assert (block.rows, block.waiting) == (0, ())
    (job,) = world.jobs
    assert job.status == "cancelled"
    assert world.report(early) == 0
    assert world.report(world.asked(5)) == 5
    world.advance()
    assert world.now.predictor == world.id(0)


def test_a_change_by_hand_begins_a_block_of_later_rows(world: World) -> None:
    world.set()
    early = world.asked(2)
    world.report(world.asked(ROWS + 20))
    world.advance()
    world.set(place=1)
    assert world.now.block is not None
    assert (world.now.block.rows, world.now.block.waiting) == (0, ())
    assert world.report(early) == 0
    assert world.report(world.asked(7, place=1)) == 7
    # Asking for what there is changes nothing.
    world.set(place=1)
    assert world.now.block.rows == 7
    roll_back(world.store, "ada", "fraud")
    assert world.now.block.rows == 0
    world.report(world.asked(7))
    delete_deployment(world.store, "ada", "fraud")
    world.advance()
    with world.store.reading() as work:
        assert list(work.blocks.outdated_rows(time.time() + 10)) == []
    # A deployment that does not recalibrate keeps nothing of any input.
    set_deployment(world.store, "ada", "fraud", DeploymentRequest(predictor=world.id(0)))
    assert world.report(world.asked(3)) == 0


def test_a_block_ends_by_the_calendar_and_waits_for_enough_rows(world: World) -> None:
    world.set(every="P30D")
    assert world.now.recalibrate is not None
    assert world.now.recalibrate.every.days == 30

    def a_month_later() -> None:
        with world.store.writing() as work:
            record = work.deployments.get("ada", "fraud")
            assert record.block_began is not None
            record.block_began -= 31 * 86400

    world.report(world.asked(12))
    world.advance()
    assert world.jobs == []
    a_month_later()
    world.advance()
    world.advance()
    assert (world.jobs, world.kinds) == ([], ["created", "failed"])
    assert world.now.block is not None
    assert world.now.block.rows == 12
    world.report(world.asked(ROWS))
    a_month_later()
    world.advance()
    world.advance()
    (job,) = world.jobs
    with world.store.reading() as work:
        assert work.datasets.get("ada", job.dataset_id).rows == ROWS + 12


def test_a_total_is_shared_and_then_spent(world: World) -> None:
    with pytest.raises(ConflictError, match="calibrate with a smaller delta"):
        world.set(spend={"total": 0.04, "over": 2})
    world.set(spend={"total": 0.07, "over": 5})
    world.report(world.asked(ROWS))
    world.advance()
    (job,) = world.jobs
    assert job.options["delta"] == pytest.approx(0.014)
    world.end(job, 2)
    world.advance()
    with world.store.reading() as work:
        issued = work.predictors.get("ada", world.id(2))
        found = Certificate.from_json(work.certificates.get("ada", issued.certificate_id).document)
    assert found.deployment is not None
    assert (found.deployment.name, found.deployment.block, found.deployment.rows) == ("fraud", 1, ROWS)
    assert found.deployment.delta_all == pytest.approx(0.064)
    assert "regardless of the set" in found.deployment.statement
    # Another one would be more than the total.
    world.report(world.asked(ROWS))
    world.advance()
    assert (len(world.jobs), world.kinds[-1], world.now.block) == (1, "failed", None)
    assert world.report(world.asked(3)) == 0
