"""Who a request acts for, as the audit log names them."""

from ipaddress import ip_address

from starlette.types import Scope

from certiset.core.store.audit import Actor
from certiset.service.http.access.keys import Caller


def actor_of(scope: Scope, caller: Caller | None) -> Actor:
    return Actor(key_id=None if caller is None else caller.key_id, address=address_of(scope))


def address_of(scope: Scope) -> str | None:
    """The client's. From a proxy that it trusts uvicorn takes what stands in its header, which may be no address."""
    client = scope.get("client")
    try:
        return None if client is None else str(ip_address(client[0].partition("%")[0]))
    except ValueError:
        return None
