"""Routes that are answered in threads: a tenant has a few of these at a time, and the rest of hers wait for their turn.

All of them share one pool. Without this, whoever asks for two hundred reports at once would make everybody else's lists
wait behind them, and predictors that are to be loaded.
"""

import inspect
from collections.abc import Iterable

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from certiset.service.http.access.keys import Caller
from certiset.service.http.state import Service


class InTurn:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope["state"].get("caller")
        if caller is None:
            # Open to everybody, and quick: strangers have nothing to keep each other waiting with.
            await self._app(scope, receive, send)
            return
        service: Service = scope["app"].state.service
        async with service.route_slots.of(caller.tenant):
            await self._app(scope, receive, send)


def give_turns(routes: Iterable[BaseRoute]) -> None:
    """To those whose endpoints run in threads; once, since all apps of a process share their routes."""
    for route in routes:
        if isinstance(route, APIRoute) and not inspect.iscoroutinefunction(route.endpoint):
            route.app = route.app if isinstance(route.app, InTurn) else InTurn(route.app)
