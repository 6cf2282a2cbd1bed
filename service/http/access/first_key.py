"""The first key of an embedded deployment: made once, printed once, kept in a file that only its owner can read."""

from certiset.core.private_file import create_private
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.keys import SCOPES
from certiset.service.http.access.keys import DEFAULT_TENANT, KeyRing, new_key
from certiset.service.http.access.secret import derive, read_secret


def make_first_key(settings: Settings, store: Store) -> str | None:
    """The key, or None if there are keys already."""
    with store.reading() as work:
        if work.keys.list():
            return None
    ring = KeyRing(store, derive(read_secret(settings.secret), "api keys"))
    # The file first: a key that is stored and nowhere written down would be lost for good.
    key, file = new_key(), settings.home / "key"
    file.unlink(missing_ok=True)
    create_private(file, f"{key}\n".encode())
    ring.add(key, tenant=DEFAULT_TENANT, name="first", scopes=list(SCOPES))
    return key
