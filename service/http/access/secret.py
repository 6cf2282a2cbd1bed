"""The deployment's secret, from which the keys of all HMACs are derived."""

import hashlib
import hmac
import secrets
from pathlib import Path

from certiset.core.errors import SettingsError
from certiset.core.private_file import create_private, read_private

_SHORTEST = 32


def read_secret(file: Path) -> bytes:
    """Made on first use; every API replica must have the same."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        create_private(file, secrets.token_hex(32).encode())
    content = read_private(file, "The secret").strip()
    if len(content) < _SHORTEST:
        raise SettingsError(f"The secret in {file} must have at least {_SHORTEST} characters.")
    return content


def derive(secret: bytes, purpose: str) -> bytes:
    """A key for one purpose, which tells nothing about the others."""
    return hmac.new(secret, purpose.encode(), hashlib.sha256).digest()
