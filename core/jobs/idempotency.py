"""The same request under the same Idempotency-Key is one job, however often and by how many it is made at once."""

from collections.abc import Callable
from typing import TypeVar

from certiset.core.errors import ConflictError
from certiset.core.jobs.announcer import Announcer
from certiset.core.jobs.insert import insert_or_get
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.job_records import JobRecords
from certiset.core.store.records import Calibration
from certiset.core.store.store import Store, Transaction

J = TypeVar("J", Calibration, BatchRecord)


def find_same(jobs: JobRecords[J], tenant: str, idempotency_key: str | None, request_sha256: str) -> J | None:
    """The job of the same request, made before under that key."""
    if idempotency_key is None:
        return None
    found = jobs.by_idempotency_key(tenant, idempotency_key)
    if found is not None and found.request_sha256 != request_sha256:
        raise ConflictError("This Idempotency-Key was used for another request.")
    return found


def queue_once(
    store: Store, find: Callable[[Transaction], J | None], create: Callable[[Transaction], J], announcer: Announcer
) -> J:
    """The job that ``find`` finds, or else a new one; workers are told of it by whoever made it."""
    record, is_new = insert_or_get(store, find, create)
    if is_new:
        announcer.announce(record.id)
    return record
