"""What routes ask for: the service and the caller."""

from typing import Annotated

from fastapi import Depends, Request

from certiset.service.http.access.keys import Caller
from certiset.service.http.state import Service


async def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


async def _caller(request: Request) -> Caller:
    found: Caller = request.state.caller
    return found


TheService = Annotated[Service, Depends(_service)]
TheCaller = Annotated[Caller, Depends(_caller)]
