"""The deployment's secret, from which the keys of all HMACs are derived."""

import hashlib
import hmac
import secrets
import stat
from pathlib import Path

from certiset.core.certificate.signing import create_private
from certiset.core.errors import SettingsError

_SHORTEST = 32


def read_secret(file: Path) -> bytes:
    """Made on first use; every API replica must have the same."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        create_private(file, secrets.token_hex(32).encode())
    try:
        if stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise SettingsError(f"{file} can be read by others: chmod 600 it.")
        content = file.read_bytes().strip()
    except OSError as error:
        raise SettingsError(f"The secret {file} cannot be read: {error.strerror}.") from None
    if len(content) < _SHORTEST:
        raise SettingsError(f"The secret in {file} must have at least {_SHORTEST} characters.")
    return content


def derive(secret: bytes, purpose: str) -> bytes:
    """A key for one purpose, which tells nothing about the others."""
    return hmac.new(secret, purpose.encode(), hashlib.sha256).digest()
