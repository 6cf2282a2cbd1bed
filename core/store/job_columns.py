"""What the table of every kind of job has: where it stands, who works on it, and what became of it."""

from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.schema import SchemaItem

from certiset.core.store.clock import now
from certiset.core.store.record_base import Id


class JobColumns:
    """A job and everything known about it: a message in the queue only wakes a worker."""

    noun: ClassVar[str]
    """what messages and the audit log call one"""
    doing: ClassVar[str]
    """what a worker is at: "The worker that was … disappeared\""""

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    tenant: Mapped[str] = mapped_column(Id)
    name: Mapped[str] = mapped_column(String(200))
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    request_sha256: Mapped[str] = mapped_column(Id)
    """of the request's body, so that a reused idempotency key is noticed"""

    status: Mapped[str] = mapped_column(String(20), default="queued")
    attempts: Mapped[int] = mapped_column(default=0)
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    lease_owner: Mapped[str | None] = mapped_column(Id)
    """the lease token: whoever holds it may write to the row; new for every attempt"""
    lease_until: Mapped[float | None]
    not_before: Mapped[float] = mapped_column(default=now())
    """a retry waits until then"""
    announced_at: Mapped[float] = mapped_column(default=now())
    """when the last message was sent"""
    announcements: Mapped[int] = mapped_column(default=0)
    """messages since the last attempt, not counting the first one"""
    progress: Mapped[dict[str, Any] | None]
    reports: Mapped[int] = mapped_column(default=0)
    """counts the reports, so that a watcher knows which one it has seen"""
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[float] = mapped_column(default=now())
    started_at: Mapped[float | None]
    finished_at: Mapped[float | None]


def job_constraints(result: str) -> tuple[SchemaItem, ...]:
    """What holds of every job; ``result`` is the column that one has that succeeded, and no other."""
    return (
        CheckConstraint("status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name="status"),
        CheckConstraint("(status = 'running') = (lease_owner is not null)", name="lease"),
        CheckConstraint(f"(status = 'succeeded') = ({result} is not null)", name="outcome"),
        UniqueConstraint("tenant", "idempotency_key"),
        Index(None, "status", "lease_until"),
        Index(None, "status", "tenant"),
        Index(None, "tenant", "id"),
    )
