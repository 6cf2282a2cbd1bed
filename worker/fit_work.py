"""What an attempt at a calibration needs before, during and after its fit."""

from collections.abc import Callable
from typing import Any

from certiset.core.certificate.content import Account
from certiset.core.data.row_sketch import RowSketch
from certiset.core.errors import NotFoundError
from certiset.core.jobs.attempts import begin_attempt, row_key
from certiset.core.jobs.recalibration import account_for
from certiset.core.store.leases import Claim
from certiset.core.store.predictors import FitResult
from certiset.core.store.records import Dataset
from certiset.core.store.store import Transaction
from certiset.worker.context import WorkerContext
from certiset.worker.protocol import FitJob
from certiset.worker.retry import with_retries


class FitWork:
    noun = "fit"
    too_long = "choose fewer steps or fewer rows, or ask the operator for a longer limit"

    def __init__(self, context: WorkerContext, claim: Claim) -> None:
        self._context, self._claim, self._calibration = context, claim, claim.calibration
        self._account: Account | None = None
        # Looked at first: it may be deleted while the fit runs.
        self._dataset = self._find_dataset()
        with context.store.reading() as work:
            self._deployment = account_for(work, self._calibration)

    def job(self, device: str) -> FitJob:
        settings, calibration = self._context.settings, self._calibration
        return FitJob(
            attempt=self._claim.owner,
            artifacts_url=settings.artifacts,
            dataset_artifact=calibration.dataset_artifact,
            row_key=row_key(self._context.store, calibration.tenant),
            model_artifact=calibration.model_artifact,
            manifest=calibration.manifest,
            options=calibration.options,
            device=device,
            graph_memory=settings.graph_bytes,
            graph_seconds=settings.graph_seconds,
            target_artifact=calibration.target_artifact,
        )

    def begin(self, rows: dict[str, Any], deadline: float) -> None:
        """From here on the attempt counts, whatever becomes of it."""
        sketch, calibration = RowSketch.from_json(rows), self._calibration
        self._account = with_retries(
            self._context.store, deadline, lambda work: begin_attempt(work, calibration, sketch)
        )

    def succeed(self, done: dict[str, Any]) -> Callable[[Transaction], bool]:
        result = self._context.sign(FitResult(**done), self._dataset, self._account, self._deployment)
        return lambda work: work.leases.succeed(self._claim, result)

    def _find_dataset(self) -> Dataset | None:
        try:
            with self._context.store.reading() as work:
                return work.datasets.get(self._calibration.tenant, self._calibration.dataset_id)
        except NotFoundError:
            return None
