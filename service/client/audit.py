"""Who changed what, and what was refused."""

from collections.abc import Iterator
from datetime import datetime

from certiset.core.resources import AuditEntry
from certiset.service.client.connection import Connection


class AuditLog:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        action: str | None = None,
        object: str | None = None,
        key: str | None = None,
        tenant: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Iterator[AuditEntry]:
        """Entries that agree with what is given, newest first: of the key's tenant, or, for an operator, of all.

        ``object`` and ``key`` are ids; a time needs a zone, such as 2026-01-31T00:00:00Z.
        """
        return self._connection.pages(
            AuditEntry,
            "/audit",
            action=action,
            object=object,
            key=key,
            tenant=tenant,
            since=_text(since),
            until=_text(until),
        )


def _text(time: datetime | str | None) -> str | None:
    return time.isoformat() if isinstance(time, datetime) else time
