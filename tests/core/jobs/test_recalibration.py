"""Reported outcomes calibrate the next predictor: which rows, once a block, whatever is killed, on which account."""

import itertools
import json
import threading
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.certificate import Certificate
from certiset.core.deployment_resources import Deployment, DeploymentRequest
from certiset.core.errors import ConflictError, OptionError, QuotaExceededError
from certiset.core.fit import Predictor, fit
from certiset.core.jobs import recalibration
from certiset.core.jobs.deletion import delete_dataset, delete_model, delete_predictor
from certiset.core.jobs.deployment_views import deployment_resource
from certiset.core.jobs.deployments import delete_deployment, roll_back, set_deployment
from certiset.core.jobs.fit_results import fit_result
from certiset.core.jobs.outcomes import IssuedPrediction, Outcome, Question, correct_outcome, count_outcomes
from certiset.core.jobs.recalibration import account_for, advance_deployments, forget_collected
from certiset.core.jobs.tenant_erasure import erase_tenant
from certiset.core.jobs.tenant_export import export_tenant
from certiset.core.sets import LabelSets
from certiset.core.store import Store
from certiset.core.store.records import Calibration
from tests.core.fit.problems import QUICK, class_data, class_model, toy_data, toy_model
from tests.service.server import enter_predictor

ETA = 0.01
ROWS = 100


@pytest.fixture(scope="module", name="predictors")
def predictors_() -> list[Predictor]:
    return [fit(class_model(), *class_data(300, seed), **QUICK) for seed in range(3)]


@dataclass
class World:
    store: Store
    predictors: list[Predictor]
    announced: list[str]
    numbers: "itertools.count[int]"

    def id(self, place: int) -> str:
        return self.predictors[place].certificate.predictor_id

    def set(self, place: int = 0, every: Any = None, spend: Any = "per_deployment", **more: Any) -> None:
        wanted = {"every": every or {"rows": ROWS}, **more}
        request = {"predictor": self.id(place), "recalibrate": wanted, "spend": spend}
        set_deployment(self.store, "ada", "fraud", DeploymentRequest.model_validate(request))

    @property
    def now(self) -> Deployment:
        with self.store.reading() as work:
            return deployment_resource(work, work.deployments.get("ada", "fraud"))

    @property
    def kinds(self) -> list[str]:
        with self.store.reading() as work:
            return [event.kind for event in work.deployments.events_after("ada", "fraud", 0)]

    @property
    def jobs(self) -> list[Calibration]:
        """The calibrations that were asked for, oldest first, without those that the predictors came from."""
        with self.store.reading() as work:
            found = work.calibrations.list("ada", limit=200).items
        return [job for job in reversed(found) if job.idempotency_key is not None]

    def asked(self, rows: int, place: int = 0, at: float | None = None) -> list[Outcome]:
        """Outcomes of inputs that were asked under the name, and come again; each set holds the truth alone."""
        with self.store.reading() as work:
            token = work.deployments.get("ada", "fraud").token
        x, y = class_data(rows, next(self.numbers))
        made = []
        for row, truth in zip(x, y, strict=True):
            question = Question(token, time.time() if at is None else at, "")
            sets = LabelSets(np.eye(3, dtype=bool)[[truth]])
            issued = IssuedPrediction(self.id(place), 0, f"n{next(self.numbers)}", sets, question=question)
            made.append(Outcome(issued, int(truth), x=row.astype("<f8").tobytes()))
        return made

    def report(self, outcomes: list[Outcome]) -> int:
        return count_outcomes(self.store, "ada", outcomes, ETA)[0].collected

    def advance(self) -> None:
        advance_deployments(self.store, self.announced.append)

    def end(self, job: Calibration, place: int) -> None:
        """The job succeeds, with that predictor, whose certificate says what a worker would have it say."""
        predictor = self.predictors[place]
        with self.store.writing() as work:
            claim = work.leases.claim(job.id)
            assert claim is not None
            certificate = replace(predictor.certificate, deployment=account_for(work, job))
            assert work.leases.succeed(claim, fit_result(predictor, self.store.artifacts, certificate))

    def fail(self, job: Calibration) -> None:
        with self.store.writing() as work:
            claim = work.leases.claim(job.id)
            assert claim is not None
            assert work.leases.fail(claim, "No budget.")


@pytest.fixture(name="world")
def world_(store: Store, predictors: list[Predictor]) -> World:
    enter_predictor(store, predictors[0])
    enter_predictor(store, predictors[1])
    return World(store, predictors, [], itertools.count())


def at_once(work: Callable[[], None], threads: int = 4) -> None:
    failed: list[BaseException] = []

    def one() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    started = [threading.Thread(target=one) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not failed, failed


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


def test_what_is_refused_before_anything_is_collected(world: World) -> None:
    with pytest.raises(OptionError, match="too few") as refused:
        world.set(every={"rows": 20})
    assert refused.value.field == "recalibrate.every.rows"
    world.set()
    with world.store.reading() as work:
        model = work.models.list("ada").items[0].id
    with pytest.raises(ConflictError, match="recalibrates with this model"):
        delete_model(world.store, "ada", model)
    with pytest.raises(ConflictError, match="stands for this predictor"):
        delete_predictor(world.store, "ada", world.id(0))
    with world.store.writing() as work:
        work.tenants.set_quotas("ada", {"rows": work.tenants.usage("ada").rows + 5})
    assert world.report(world.asked(5)) == 5
    with pytest.raises(QuotaExceededError):
        world.report(world.asked(1))


def test_rows_are_corrected_annulled_forgotten_exported_and_erased(world: World, tmp_path: Path) -> None:
    world.set()
    outcomes = world.asked(4)
    world.report(outcomes)
    correct_outcome(world.store, "ada", outcomes[0].prediction, ETA, 2)
    correct_outcome(world.store, "ada", outcomes[1].prediction, ETA)
    assert world.now.block is not None
    assert world.now.block.rows == 3
    file = tmp_path / "ada.zip"
    export_tenant(world.store, "ada", file)
    with zipfile.ZipFile(file) as archive:
        rows = [json.loads(line) for line in archive.read("records/deployment_rows.jsonl").splitlines()]
        assert archive.read("records/deployments.jsonl")
    kept = {row["prediction"]: row for row in rows}
    assert set(kept) == {outcome.prediction.number for outcome in (outcomes[0], *outcomes[2:])}
    assert kept[outcomes[0].prediction.number]["y"] == [2.0]
    assert outcomes[0].x is not None
    assert kept[outcomes[0].prediction.number]["x"] == np.frombuffer(outcomes[0].x).tolist()
    assert forget_collected(world.store) == 0
    with world.store.writing() as work:
        for row in work.blocks.outdated_rows(time.time() + 10)[:2]:
            row.created_at -= 91 * 86400
    assert forget_collected(world.store) == 2
    assert world.now.block.rows == 1
    erase_tenant(world.store, "ada", key_seconds=0.0)
    with world.store.reading() as work:
        assert work.deployments.find("ada", "fraud") is None
        assert work.deployments.events_after("ada", "fraud", 0) == []
        assert list(work.blocks.outdated_rows(time.time() + 10)) == []


def test_data_sets_made_of_outcomes_are_deleted_in_time(world: World) -> None:
    world.set()
    world.report(world.asked(ROWS))
    world.advance()
    (job,) = world.jobs
    with pytest.raises(ConflictError):
        delete_dataset(world.store, "ada", job.dataset_id)
    world.end(job, 2)
    world.advance()

    def kept() -> bool:
        with world.store.reading() as work:
            return job.dataset_id in [one.id for one in work.datasets.list("ada").items]

    forget_collected(world.store)
    assert kept()
    with world.store.writing() as work:
        block = work.blocks.of_request("ada", str(job.idempotency_key))
        assert block is not None
        block.closed_at -= 91 * 86400
    forget_collected(world.store)
    assert not kept()
    assert world.now.predictor == world.id(2)


def test_a_name_that_is_given_again_has_an_account_of_its_own(world: World) -> None:
    world.set(place=1)
    delete_deployment(world.store, "ada", "fraud")
    world.set(place=0)
    own = world.now.delta_all
    # What stood there under the same name before is no predictor of this deployment.
    world.set(place=1)
    assert world.now.delta_all == pytest.approx(2 * own)
    delete_deployment(world.store, "ada", "fraud")
    world.set(place=0, spend={"total": own, "over": 100})
    with pytest.raises(ConflictError, match="risks"):
        roll_back(world.store, "ada", "fraud", 1)
    assert world.now.predictor == world.id(0)
    assert world.now.delta_all == pytest.approx(own)


def test_a_name_goes_back_to_nothing_that_takes_other_inputs(world: World) -> None:
    other = fit(toy_model(), *toy_data(300, 0), **QUICK)
    enter_predictor(world.store, other)
    request = DeploymentRequest(predictor=other.certificate.predictor_id)
    set_deployment(world.store, "ada", "fraud", request)
    delete_deployment(world.store, "ada", "fraud")
    world.set()
    with pytest.raises(ConflictError, match="another task"):
        roll_back(world.store, "ada", "fraud")
    assert world.now.predictor == world.id(0)


def test_a_contradiction_by_a_corrected_truth_is_one(world: World) -> None:
    world.set(on_contradiction=True)
    asked = world.asked(60)
    world.report(asked)
    for outcome in asked:
        _, contradicted = correct_outcome(world.store, "ada", outcome.prediction, ETA, (outcome.y + 1) % 3)
        if contradicted:
            break
    assert contradicted
    assert world.kinds.count("contradicted") == 1
    assert world.now.block is not None
    assert world.now.block.rows == 0
    # It is said once, however many are corrected afterwards.
    correct_outcome(world.store, "ada", asked[-1].prediction, ETA, (asked[-1].y + 1) % 3)
    assert world.kinds.count("contradicted") == 1


def test_a_block_that_a_change_drops_spends_what_its_predictor_would_have_spent(world: World) -> None:
    world.set()
    own = world.now.delta_all
    world.report(world.asked(20))
    world.set(spend={"total": 0.5, "over": 1000})
    assert world.now.delta_all == pytest.approx(2 * own)
