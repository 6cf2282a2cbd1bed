"""What an attempt at a batch needs before and after its sets are computed."""

from collections.abc import Callable
from typing import Any

from certiset.core.certificate.best_member import best_member
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.errors import DamagedCertificateError
from certiset.core.jobs.batch_answers import deliver, needed_by
from certiset.core.store.leases import Claim
from certiset.core.store.store import Transaction
from certiset.worker.context import WorkerContext
from certiset.worker.protocol import BatchAnswer, BatchJob


class BatchWork:
    noun = "batch"
    too_long = "divide the data set into several, or ask the operator for a longer limit"

    def __init__(self, context: WorkerContext, claim: Claim) -> None:
        self._context, self._claim, self._batch = context, claim, claim.batch

    def job(self, device: str) -> BatchJob:
        """From the moment of the claim on, the files that it names stay until the attempt has ended."""
        settings, batch = self._context.settings, self._batch
        with self._context.store.reading() as work:
            predictor, dataset = needed_by(work, batch)
            document = work.certificates.get(batch.tenant, predictor.certificate_id).document
        # Whoever can write to the database could otherwise promise what was never proved.
        certificate = self._context.issuer_keys.issued(document, predictor.certificate_id)
        if certificate.predictor_id != predictor.id:
            raise DamagedCertificateError(
                f"The certificate {certificate.id} was not issued for the predictor {predictor.id}."
            )
        coverage = certificate.coverage
        alone = predictor.serve == "best" and guarantee_of(coverage).member_alpha(coverage) is not None
        return BatchJob(
            attempt=self._claim.owner,
            artifacts_url=settings.artifacts,
            scratch=str(settings.worker_scratch),
            predictor_artifact=predictor.artifact,
            description=predictor.description,
            certificate=document,
            dataset_artifact=dataset.artifact,
            members_artifact=None if alone else batch.members_artifact,
            member=best_member(certificate) if alone else None,
            alpha=batch.options.get("alpha"),
            cases=batch.options.get("cases"),
            device=device,
            graph_memory=settings.graph_bytes,
            graph_seconds=settings.graph_seconds,
        )

    def begin(self, rows: dict[str, Any], deadline: float) -> None:
        """A batch spends nothing of its rows."""

    def succeed(self, done: dict[str, Any]) -> Callable[[Transaction], bool]:
        answer = BatchAnswer(**done)
        return lambda work: deliver(work, self._claim, answer.artifact, answer.stored_bytes)
