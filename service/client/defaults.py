"""Which server, and which key, when neither is given."""

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path

import httpx

URL = "http://127.0.0.1:8000"


def default_url(environment: Mapping[str, str] = os.environ) -> str:
    return environment.get("CERTISET_URL") or URL


def default_key(url: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """CERTISET_KEY, or, for a server on this machine, the key that `certiset up` made: that is never sent elsewhere."""
    if environment.get("CERTISET_KEY"):
        return environment["CERTISET_KEY"]
    try:
        if not is_local(httpx.URL(url).host):
            return None
        return (Path(environment.get("CERTISET_HOME") or "var") / "key").read_text().strip() or None
    except (OSError, httpx.InvalidURL):
        return None


def is_local(host: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
