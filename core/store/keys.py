"""API keys: only an HMAC of each is stored, so that a stolen database gives no access."""

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError
from certiset.core.store.clock import now
from certiset.core.store.identifiers import new_id
from certiset.core.store.records import ApiKey

SCOPES = ("read", "write", "admin", "operator")
"""admin: everything of one tenant; operator: what concerns all tenants, but none of their data"""


class ApiKeys:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, *, tenant: str, name: str, scopes: list[str], digest: str) -> ApiKey:
        made = ApiKey(id=new_id("key"), tenant=tenant, name=name, scopes=scopes, digest=digest)
        self._session.add(made)
        self._session.flush()
        self._session.refresh(made)
        return made

    def of_digest(self, digest: str) -> ApiKey | None:
        """The key with that HMAC, unless it was revoked."""
        chosen = select(ApiKey).where(ApiKey.digest == digest, ApiKey.revoked_at.is_(None))
        return self._session.scalars(chosen).one_or_none()

    def list(self) -> list[ApiKey]:
        return list(self._session.scalars(select(ApiKey).order_by(ApiKey.id)))

    def remove_all(self, tenant: str) -> None:
        self._session.execute(delete(ApiKey).where(ApiKey.tenant == tenant))

    def revoke(self, id: str) -> str:
        """Returns the tenant of the key."""
        revoked = self._session.execute(
            update(ApiKey)
            .where(ApiKey.id == id, ApiKey.revoked_at.is_(None))
            .values(revoked_at=now())
            .returning(ApiKey.tenant)
        )
        tenant = revoked.scalar()
        if tenant is None:
            raise NotFoundError(f"Key {id} was not found or is already revoked.")
        return tenant
