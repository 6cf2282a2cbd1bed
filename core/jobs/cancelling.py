"""Jobs of whatever kind, ended before their time."""

from typing import TypeVar

from certiset.core.resources import FINISHED
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.job_records import JobRecords
from certiset.core.store.records import Calibration
from certiset.core.store.store import Transaction

J = TypeVar("J", Calibration, BatchRecord)


def cancel_job(work: Transaction, jobs: JobRecords[J], tenant: str | None, id: str) -> J:
    """Ends a queued one at once and a running one within seconds; a finished one is not changed.

    Without a tenant, as for operators, it may be anybody's.
    """
    before = jobs.find(id) if tenant is None else jobs.get(tenant, id)
    changes = before is not None and not before.cancel_requested and before.status not in FINISHED
    record = jobs.cancel(id)
    if changes:
        work.audit.add(f"{record.noun}.cancel", record.tenant, record.noun, record.id)
    return record
