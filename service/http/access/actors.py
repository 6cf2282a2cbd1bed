"""Who a request acts for, as the audit log names them."""

from starlette.types import Scope

from certiset.core.store.audit import Actor
from certiset.service.http.access.keys import Caller


def actor_of(scope: Scope, caller: Caller | None) -> Actor:
    return Actor(key_id=None if caller is None else caller.key_id, address=address_of(scope))


def address_of(scope: Scope) -> str | None:
    """The client's, which uvicorn takes from a proxy's header if the proxy is one that it trusts."""
    client = scope.get("client")
    return None if client is None else str(client[0])
