"""The FastAPI app: made by a factory, opened and closed with its lifespan."""

import gc
import importlib.metadata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from core.settings import Settings
from service.access.gate import Gate, needed_scope
from service.body_limit import BodyLimit
from service.page_files import PageFiles
from service.problems import add_handlers
from service.request_log import RequestLog
from service.routes import (
    calibrations,
    certificates,
    datasets,
    figures,
    health,
    inference_protocol,
    models,
    outcomes,
    page,
    predict_set,
    predictors,
    reference,
)
from service.routes.uploads import remove_abandoned
from service.schemas.common import Problem
from service.state import Service

# Routes are tried in this order: the busiest come first.
_ROUTERS = (
    predict_set,
    datasets,
    models,
    calibrations,
    predictors,
    certificates,
    outcomes,
    figures,
    health,
    inference_protocol,
    page,
    reference,
)


def create_app(settings: Settings) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = Service.open(settings)
        remove_abandoned(settings.home / "uploads")
        # What is loaded by now stays; without it the collector's rare full rounds would hold a request up for long.
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            app.state.service.close()

    app = FastAPI(
        title="certiset",
        description="Prediction sets with certificates of coverage and size.",
        version=importlib.metadata.version("certiset"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    add_handlers(app)
    for module in _ROUTERS:
        app.include_router(module.router)
    app.mount("/static", PageFiles(directory=Path(__file__).parent / "static"), name="static")
    # Outermost last: every request is logged, then let in or not, then held to its size.
    app.add_middleware(BodyLimit)
    app.add_middleware(Gate)
    app.add_middleware(RequestLog)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document, with the key that the gate asks for and the problems that it answers."""
    if app.openapi_schema:
        return app.openapi_schema
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, openapi_version="3.1.0"
    )
    document["paths"]["/predict_set"] = {"get": predict_set.PREDICT_ONE, **document["paths"]["/predict_set"]}
    schemas = document["components"].setdefault("schemas", {})
    definitions = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= definitions.pop("$defs", {})
    schemas["Problem"] = definitions
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for inner in _inner_definitions(operation):
                schemas |= inner
            if needed_scope(method.upper(), path) is not None:
                operation["security"] = [{"bearer": []}]
    document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    app.openapi_schema = document
    return document


def _inner_definitions(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Definitions that a hand-written request body brought along, moved to where its references point."""
    content = operation.get("requestBody", {}).get("content", {})
    return [part["schema"].pop("$defs") for part in content.values() if "$defs" in part.get("schema", {})]
