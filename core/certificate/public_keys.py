"""Public keys as people pass them on: Ed25519, 32 bytes, in base64, one or a file of them."""

import base64
import hashlib
from typing import Any

from certiset.core.certificate.json_text import parse
from certiset.core.errors import DamagedFileError

_BYTES = 32
_ID_DIGITS = 16


def raw_key(text: str) -> bytes:
    """The key's bytes; a `ValueError` if it is none."""
    raw = base64.b64decode(text, validate=True)
    if len(raw) != _BYTES:
        raise ValueError(f"a key has {_BYTES} bytes, not {len(raw)}")
    return raw


def is_public_key(text: str) -> bool:
    try:
        raw_key(text)
    except ValueError:
        return False
    return True


def key_id(key: str) -> str:
    """The key's short name: the beginning of its SHA-256."""
    return hashlib.sha256(raw_key(key)).hexdigest()[:_ID_DIGITS]


def read_keys(content: str | bytes, what: str) -> list[str]:
    """The keys of a file: one per line, empty lines and those that begin with # apart, or `GET /certificates/keys`."""
    try:
        text = content.decode() if isinstance(content, bytes) else content
    except UnicodeDecodeError:
        raise DamagedFileError(f"{what} is not text.") from None
    if text.lstrip().startswith(("{", "[")):
        keys = _listed(parse(text, what))
    else:
        keys = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    wrong = [key for key in keys if not (isinstance(key, str) and is_public_key(key))]
    if not keys or wrong:
        found = f", not {str(wrong[0])[:60]!r}" if wrong else ", and has none"
        raise DamagedFileError(f"{what} must hold Ed25519 public keys, 32 bytes in base64{found}.")
    return keys


def _listed(content: Any) -> list[Any]:
    items = content.get("items", [content]) if isinstance(content, dict) else content
    if not isinstance(items, list):
        return []
    return [item.get("public_key") if isinstance(item, dict) else item for item in items]
