"""API keys: shown once, kept only as an HMAC, looked up at most once in a while."""

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from certiset.core.store import Store
from certiset.core.store.keys import SCOPES
from certiset.core.store.records import ApiKey

_PREFIX = "cs_"
_REMEMBERED_SECONDS = 5.0
_REMEMBERED = 10_000
DEFAULT_TENANT = "default"
_OF_ADMINS = ("read", "write")


def new_key() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Caller:
    key_id: str
    tenant: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """An admin may read and write what is its tenant's; nothing else comes with another scope."""
        return scope in self.scopes or ("admin" in self.scopes and scope in _OF_ADMINS)


class KeyRing:
    """Finds the caller behind a key. A revoked key is refused within seconds."""

    def __init__(self, store: Store, hmac_key: bytes, configured: str = "") -> None:
        self._store, self._hmac_key = store, hmac_key
        self._known: OrderedDict[str, tuple[float, Caller | None]] = OrderedDict()
        self._lock = threading.Lock()
        everything = frozenset(SCOPES)
        self._configured = {
            self.digest(key.strip()): Caller(f"configured-{place}", DEFAULT_TENANT, everything)
            for place, key in enumerate(configured.split(","))
            if key.strip()
        }

    def digest(self, key: str) -> str:
        return hmac.new(self._hmac_key, key.encode(), hashlib.sha256).hexdigest()

    def create(self, *, tenant: str, name: str, scopes: list[str]) -> tuple[ApiKey, str]:
        """The record, and the key itself, which cannot be shown again."""
        key = new_key()
        return self.add(key, tenant=tenant, name=name, scopes=scopes), key

    def add(self, key: str, *, tenant: str, name: str, scopes: list[str]) -> ApiKey:
        with self._store.writing() as work:
            made = work.keys.add(tenant=tenant, name=name, scopes=scopes, digest=self.digest(key))
            work.audit.add("key.create", tenant, "key", made.id, details={"scopes": scopes})
            return made

    def remembered(self, digest: str) -> tuple[bool, Caller | None]:
        """(whether the answer is known without asking the database, the answer)."""
        if digest in self._configured:
            return True, self._configured[digest]
        found = self._known.get(digest)
        if found is not None and found[0] > time.monotonic():
            return True, found[1]
        return False, None

    def look_up(self, digest: str) -> Caller | None:
        with self._store.reading() as work:
            record = work.keys.of_digest(digest)
        caller = Caller(record.id, record.tenant, frozenset(record.scopes)) if record is not None else None
        with self._lock:
            self._known[digest] = (time.monotonic() + _REMEMBERED_SECONDS, caller)
            self._known.move_to_end(digest)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return caller
