"""A tenant whose deployment recalibrates, and what can happen to it."""

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from certiset.core.certificate.signing import Signer
from certiset.core.deployment_resources import Deployment, DeploymentRequest
from certiset.core.fit import Predictor
from certiset.core.jobs import add_dataset, add_model
from certiset.core.jobs.deployment_views import deployment_resource
from certiset.core.jobs.deployments import set_deployment
from certiset.core.jobs.fit_results import fit_result
from certiset.core.jobs.outcomes import IssuedPrediction, Outcome, Question, count_outcomes
from certiset.core.jobs.recalibration import account_for, advance_deployments
from certiset.core.sets import LabelSets
from certiset.core.store import Store
from certiset.core.store.records import Calibration
from tests.core.fit.problems import class_data, class_model

ETA = 0.01
ROWS = 100


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


def succeed(world: World, job: Calibration, predictor: Predictor) -> None:
    """As a worker would end it: with a certificate that is signed, and holds."""
    signer = Signer.from_file_or_new(world.store.settings.signing_key)
    with world.store.writing() as work:
        claim = work.leases.claim(job.id)
        assert claim is not None
        certificate = signer.sign(replace(predictor.certificate, deployment=account_for(work, job)))
        assert certificate.verify().holds
        assert work.leases.succeed(claim, fit_result(predictor, world.store.artifacts, certificate))


def calibrated_world(store: Store, file: Path, predictor: Predictor, options: dict[str, Any]) -> World:
    """A world whose first predictor was calibrated on that file with these options."""
    dataset, _ = add_dataset(store, "ada", file, filename=file.name)
    model, _ = add_model(store, "ada", class_model().manifest, class_model().tensors())
    with store.writing() as work:
        job = work.calibrations.create(dataset, model, options)
    world = World(store, [predictor], [], itertools.count())
    succeed(world, job, predictor)
    return world
