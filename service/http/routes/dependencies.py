"""What routes ask for: the service, the caller, and the store in which the caller acts."""

from typing import Annotated

from fastapi import Depends, Request

from certiset.core.store import Store
from certiset.service.http.access.actors import actor_of
from certiset.service.http.access.keys import Caller
from certiset.service.http.state import Service


async def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


async def _caller(request: Request) -> Caller:
    found: Caller = request.state.caller
    return found


async def _acting(request: Request) -> Store:
    service: Service = request.app.state.service
    return service.store.acting_for(actor_of(request.scope, request.state.caller))


TheService = Annotated[Service, Depends(_service)]
TheCaller = Annotated[Caller, Depends(_caller)]
ActingStore = Annotated[Store, Depends(_acting)]
"""the store, for routes that change something: it is logged as the caller's doing"""
