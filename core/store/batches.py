"""Batches as their owners see them."""

from typing import Any, ClassVar

from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.identifiers import new_id
from certiset.core.store.job_records import JobRecords
from certiset.core.store.records import Dataset, PredictorRecord
from certiset.core.store.text import printable


class Batches(JobRecords[BatchRecord]):
    record: ClassVar[type[BatchRecord]] = BatchRecord
    noun: ClassVar[str] = BatchRecord.noun

    def create(
        self,
        predictor: PredictorRecord,
        dataset: Dataset,
        options: dict[str, Any],
        *,
        name: str = "",
        members_artifact: str | None = None,
        idempotency_key: str | None = None,
        request_sha256: str = "",
    ) -> BatchRecord:
        """A queued batch; whoever commits the transaction announces it."""
        return self.add(
            BatchRecord(
                id=new_id("batch"),
                tenant=dataset.tenant,
                name=printable(name, 200),
                predictor_id=predictor.id,
                dataset_id=dataset.id,
                predictor_artifact=predictor.artifact,
                dataset_artifact=dataset.artifact,
                members_artifact=members_artifact,
                options=options,
                rows=dataset.rows,
                idempotency_key=idempotency_key,
                request_sha256=request_sha256,
            )
        )
