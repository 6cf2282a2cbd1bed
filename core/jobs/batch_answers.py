"""What the worker asks and tells about a batch: what it reads, and what becomes of the answer."""

from certiset.core.errors import NotFoundError, QuotaExceededError
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.leases import Claim
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import Dataset, PredictorRecord
from certiset.core.store.store import Transaction


def needed_by(work: Transaction, batch: BatchRecord) -> tuple[PredictorRecord, Dataset]:
    """What a worker reads for it; an error if its owner has deleted one of both while the batch waited."""
    try:
        predictor = work.predictors.get(batch.tenant, batch.predictor_id)
    except NotFoundError:
        raise NotFoundError(f"The predictor {batch.predictor_id} was deleted before the batch was done.") from None
    try:
        dataset = work.datasets.get(batch.tenant, batch.dataset_id)
    except NotFoundError:
        raise NotFoundError(f"The dataset {batch.dataset_id} was deleted before the batch was done.") from None
    return predictor, dataset


def deliver(work: Transaction, claim: Claim, artifact: str, stored_bytes: int) -> bool:
    """Stores the answer, unless the lease was lost; it fails if the predictor is gone, or the tenant has no room.

    What is deleted is no longer served, by a batch neither.
    """
    batch = claim.batch
    work.tenants.lock(batch.tenant)
    if work.predictors.is_withdrawn(batch.tenant, batch.predictor_id):
        return work.leases.fail(claim, f"The predictor {batch.predictor_id} was deleted before the batch was done.")
    try:
        work.tenants.check(batch.tenant, Amounts(bytes=stored_bytes))
    except QuotaExceededError as error:
        return work.leases.fail(claim, f"The answer cannot be stored. {error}")
    return work.leases.deliver(claim, artifact, stored_bytes)
