"""Removes everything of one tenant: keys, jobs, records, certificates, and files that nobody else names.

What stays is one row of the audit log, which says who erased it.

Each step can be interrupted: run again, it goes on. From the first step on, nothing can be added.
"""

import time
from dataclasses import dataclass

from certiset.core.errors import ConflictError, NotFoundError
from certiset.core.store.garbage import discard_all_unnamed
from certiset.core.store.store import Store

KEY_SECONDS = 6.0
"""API replicas may remember a key for about as long after it was removed"""
_JUST_WRITTEN_SECONDS = 60.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Erased:
    tenant: str
    records: int
    artifacts: int
    left_to_collect: int
    """files that were written a moment ago, or that another tenant has too: the workers' collector sees to them"""


def erase_tenant(store: Store, tenant: str, *, wait: float = 60.0, key_seconds: float = KEY_SECONDS) -> Erased:
    """Waits up to so many seconds until running jobs have stopped."""
    _begin(store, tenant)
    keys_gone = time.monotonic()
    _wait_for_jobs(store, tenant, wait)
    with store.reading() as work:
        artifacts = work.tenant_records.artifacts(tenant)
    records = _remove_records(store, tenant)
    discarded = discard_all_unnamed(store, artifacts, _JUST_WRITTEN_SECONDS)
    # Whoever holds a key that is still remembered is refused by the tenant's row, which therefore goes last.
    time.sleep(max(0.0, key_seconds - (time.monotonic() - keys_gone)))
    records += _remove_records(store, tenant)
    with store.writing() as work:
        work.tenant_records.remove_tenant(tenant)
        work.audit.erase(tenant)
    return Erased(tenant, records, discarded, len(artifacts) - discarded)


def _begin(store: Store, tenant: str) -> None:
    with store.writing() as work:
        if tenant not in work.tenants.names():
            raise NotFoundError(f"There is no tenant {tenant}.")
        work.tenants.begin_erasing(tenant)
        work.keys.remove_all(tenant)
        for id in work.tenant_records.unfinished(tenant):
            work.cancel(id)


def _wait_for_jobs(store: Store, tenant: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        with store.reading() as work:
            left = work.tenant_records.unfinished(tenant)
        if not left:
            return
        if time.monotonic() > deadline:
            raise ConflictError(
                f"{len(left)} jobs of {tenant} were asked to stop and still run: try again in a moment."
            )
        time.sleep(_POLL_SECONDS)


def _remove_records(store: Store, tenant: str) -> int:
    total = 0
    while True:
        with store.writing() as work:
            work.tenants.lock(tenant)
            removed = work.tenant_records.remove_some(tenant)
        if removed == 0:
            return total
        total += removed
