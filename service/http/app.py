"""The FastAPI app: made by a factory, opened and closed with its lifespan."""

import gc
import importlib.metadata
import pkgutil
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI

from certiset.core.kinds import load_kinds
from certiset.core.scratch import remove_abandoned
from certiset.core.settings import Settings
from certiset.service.http import routes
from certiset.service.http.access.requirements import AccessTable
from certiset.service.http.batch_forwarding import BatchForwarding
from certiset.service.http.body_limit import BodyLimit
from certiset.service.http.gate import Gate
from certiset.service.http.in_turn import give_turns
from certiset.service.http.openapi import openapi_document
from certiset.service.http.page_files import PageFiles
from certiset.service.http.problems import add_handlers
from certiset.service.http.request_log import RequestLog
from certiset.service.http.state import Service

_BUSIEST = "predict_set"
_SWITCH_SECONDS = 0.0005


def create_app(settings: Settings, further: Iterable[APIRouter] = ()) -> FastAPI:
    """The service of a deployment; ``further`` routers stand behind its own."""
    # A broken kind stops the service at its start, and not the first request that asks for it.
    load_kinds()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = Service.open(settings)
        remove_abandoned(settings.scratch)
        # What is loaded by now stays; without it the collector's rare full rounds would hold a request up for long.
        gc.collect()
        gc.freeze()
        # The event loop gets Python's lock back so soon after it wakes up, whatever a thread is writing or parsing.
        sys.setswitchinterval(_SWITCH_SECONDS)
        try:
            yield
        finally:
            app.state.service.close()

    app = FastAPI(
        title="certiset",
        description="Prediction sets with certificates of coverage and size.",
        version=importlib.metadata.version("certiset"),
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        # Nothing is reported to anybody but by /metrics and the logs; looking for somebody takes time at each request.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    add_handlers(app)
    for router in (*_routers(), *further):
        # Not included but added one by one: a router within a router would be searched first, at each request.
        app.router.routes.extend(router.routes)
    give_turns(app.routes)
    app.mount("/static", PageFiles(directory=Path(__file__).parents[1] / "static"), name="static")
    access = app.state.access = AccessTable(app.routes)
    # Outermost last: every request is logged, then let in or not, held to its size, and handed on if it is a large one.
    app.add_middleware(BatchForwarding, access=access)
    app.add_middleware(BodyLimit, access=access)
    app.add_middleware(Gate, access=access)
    app.add_middleware(RequestLog, access=access)
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]
    return app


def _routers() -> Iterator[APIRouter]:
    """The routers of all modules in `routes`. Routes are tried in their order, so the busiest come first."""
    names = [module.name for module in pkgutil.iter_modules(routes.__path__)]
    for name in sorted(names, key=lambda name: (name != _BUSIEST, name)):
        module = importlib.import_module(f"{routes.__name__}.{name}")
        if hasattr(module, "router"):
            yield module.router
