"""The audit log: who changed what, and what was refused. Rows are added and read; the database refuses all else."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from certiset.core.store.identifiers import new_id
from certiset.core.store.paging import Page, page_of
from certiset.core.store.records import AuditRecord
from certiset.core.store.text import printable

ERASURE = "tenant.erase"
"""the action whose row lets the database delete a tenant's older rows"""
PROCESS_DIED = "process_died"
"""of a job, behind its kind and a point"""


@dataclass(frozen=True)
class Actor:
    """Who acts: a key from an address, a user of the operating system, a worker, or, with none of them, the service."""

    key_id: str | None = None
    address: str | None = None
    user: str | None = None


SERVICE = Actor()
WORKER = Actor(user="worker")


@dataclass(frozen=True)
class Refusals:
    """Calls of one kind that were refused, counted."""

    action: str
    actor: Actor
    tenant: str | None
    """None: the caller is unknown"""
    status: int
    code: str
    count: int
    first_at: float
    at: float
    """when the last of them was refused"""
    object_id: str | None = None
    """None: none, or several"""

    @property
    def kind(self) -> str | None:
        """Of the object: dataset of dataset.delete."""
        kind, dot, _ = self.action.partition(".")
        return kind if dot else None


@dataclass(frozen=True)
class AuditFilter:
    """Which rows are asked for; what is None is not looked at."""

    tenant: str | None = None
    action: str | None = None
    object_id: str | None = None
    key_id: str | None = None
    since: float | None = None
    until: float | None = None

    def apply(self, chosen: Select[Any]) -> Select[Any]:
        record = AuditRecord
        for column, wanted in (
            (record.tenant, self.tenant),
            (record.action, self.action),
            (record.object_id, self.object_id),
            (record.key_id, self.key_id),
        ):
            if wanted is not None:
                chosen = chosen.where(column == wanted)
        if self.since is not None:
            chosen = chosen.where(record.at >= self.since)
        if self.until is not None:
            chosen = chosen.where(record.at < self.until)
        return chosen


class AuditLog:
    def __init__(self, session: Session, actor: Actor) -> None:
        self._session, self._actor = session, actor

    def add(
        self, action: str, tenant: str, kind: str, id: str, *, details: dict[str, Any] | None = None
    ) -> AuditRecord:
        """A change, by whoever this transaction acts for; it is logged if the transaction commits, and only then."""
        made = AuditRecord(
            id=new_id("aud"),
            action=action,
            result="ok",
            tenant=tenant,
            object_kind=kind,
            object_id=id,
            details=details,
            **_columns(self._actor),
        )
        self._session.add(made)
        return made

    def add_refusals(self, refusals: Refusals) -> None:
        self._session.add(
            AuditRecord(
                id=new_id("aud"),
                action=refusals.action,
                result="refused" if refusals.status < 500 else "failed",
                status=refusals.status,
                code=refusals.code,
                tenant=refusals.tenant,
                object_kind=None if refusals.object_id is None else refusals.kind,
                object_id=refusals.object_id,
                count=refusals.count,
                first_at=refusals.first_at,
                at=refusals.at,
                **_columns(refusals.actor),
            )
        )

    def list(self, wanted: AuditFilter, *, limit: int = 50, cursor: str | None = None) -> Page[AuditRecord]:
        """Newest first."""
        return page_of(self._session, wanted.apply(select(AuditRecord)), AuditRecord.id, limit, cursor)

    def erase(self, tenant: str) -> int:
        """Deletes a tenant's rows, and returns how many; one row that says who erased them stays.

        That row is also what makes the database allow it.
        """
        last = self.add(ERASURE, tenant, "tenant", tenant)
        self._session.flush()
        erased = self._session.execute(
            delete(AuditRecord)
            .where(AuditRecord.tenant == tenant, AuditRecord.id < last.id)
            .returning(AuditRecord.id)
            .execution_options(synchronize_session=False)
        )
        return len(erased.all())

    def rows(self) -> int:
        return self._session.scalar(select(func.count()).select_from(AuditRecord)) or 0


def merged(first: Refusals, second: Refusals) -> Refusals:
    """Both as one: they are of the same action, caller and answer."""
    same = first.object_id if first.object_id == second.object_id else None
    count = first.count + second.count
    return replace(first, count=count, at=max(first.at, second.at), object_id=same)


def _columns(actor: Actor) -> dict[str, Any]:
    user = None if actor.user is None else printable(actor.user, 64)
    address = None if actor.address is None else printable(actor.address, 64)
    return {"key_id": actor.key_id, "address": address, "user": user}
