"""API keys: shown once, kept only as an HMAC, looked up at most once in a while."""

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

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
    """Finds the caller behind a key. A revoked key is refused within seconds.

    While the database cannot be asked, a key that was valid at most ``stale_seconds`` ago may still be used.
    """

    def __init__(self, store: Store, hmac_key: bytes, configured: str = "", stale_seconds: float = 0.0) -> None:
        self._store, self._hmac_key, self._stale_seconds = store, hmac_key, stale_seconds
        # Apart, so that no number of wrong keys makes a right one forgotten. Each with the time of its last look-up.
        self._valid: OrderedDict[str, tuple[float, Caller]] = OrderedDict()
        self._refused: OrderedDict[str, tuple[float, None]] = OrderedDict()
        self._lock = threading.Lock()
        everything = frozenset(SCOPES)
        self._configured = {
            self.digest(key.strip()): Caller(f"configured-{place}", DEFAULT_TENANT, everything)
            for place, key in enumerate(configured.split(","))
            if key.strip()
        }

    def digest(self, key: str) -> str:
        return hmac.digest(self._hmac_key, key.encode(), "sha256").hex()

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
        found = self._valid.get(digest) or self._refused.get(digest)
        if found is not None and found[0] + _REMEMBERED_SECONDS > time.monotonic():
            return True, found[1]
        return False, None

    def stale(self, digest: str) -> Caller | None:
        """Whose key it was when the database was last asked, unless that is too long ago."""
        found = self._valid.get(digest)
        return found[1] if found is not None and self._is_usable(found[0]) else None

    def has_usable(self) -> bool:
        """Whether some key would be accepted without the database."""
        with self._lock:
            return bool(self._configured) or any(self._is_usable(looked_up) for looked_up, _ in self._valid.values())

    def look_up(self, digest: str) -> Caller | None:
        with self._store.reading() as work:
            record = work.keys.of_digest(digest)
        now = time.monotonic()
        with self._lock:
            self._valid.pop(digest, None)
            self._refused.pop(digest, None)
            if record is None:
                self._refused[digest] = (now, None)
                _forget(self._refused)
                return None
            caller = Caller(record.id, record.tenant, frozenset(record.scopes))
            self._valid[digest] = (now, caller)
            _forget(self._valid)
        return caller

    def _is_usable(self, looked_up: float) -> bool:
        return time.monotonic() - looked_up < max(self._stale_seconds, _REMEMBERED_SECONDS)


def _forget(keys: OrderedDict[str, Any]) -> None:
    """Those that were looked up longest ago."""
    while len(keys) > _REMEMBERED:
        keys.popitem(last=False)
