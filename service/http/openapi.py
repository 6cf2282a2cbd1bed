"""The OpenAPI document: FastAPI's, with the scope that each route declares and the problems that the gate answers."""

from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import Route

from certiset.core.deployment_resources import DeploymentEvent
from certiset.core.resources import Problem, Promise

DESCRIPTION = "__openapi__"
"""the attribute in which the endpoint of a plain route, which FastAPI does not describe, describes itself"""


_SECTIONS = (
    "predict_set",
    "datasets",
    "models",
    "calibrations",
    "predictors",
    "deployments",
    "certificates",
    "outcomes",
    "figures",
    "audit",
    "health",
    "open inference protocol",
)
"""in the order in which a reader wants them; others follow"""


def openapi_document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema:
        return app.openapi_schema
    document = deepcopy(
        get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            openapi_version="3.1.0",
        )
    )
    for route in app.routes:
        described = getattr(route.endpoint, DESCRIPTION, None) if isinstance(route, Route) else None
        if isinstance(route, Route) and described is not None:
            path = route.path_format
            document["paths"][path] = {**described, **document["paths"].get(path, {})}
    document["paths"] = dict(sorted(document["paths"].items(), key=lambda entry: _section(entry[1])))
    schemas = document["components"].setdefault("schemas", {})
    for resource in (Problem, Promise, DeploymentEvent):
        definitions = resource.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= definitions.pop("$defs", {})
        schemas[resource.__name__] = definitions
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for inner in _inner_definitions(operation):
                schemas |= inner
            needed = app.state.access.declared(method.upper(), path)
            scopes = [scope for scope in (needed.scope, needed.or_scope) if scope is not None]
            if scopes:
                operation["security"] = [{"bearer": [scope]} for scope in scopes]
    document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    app.openapi_schema = document
    return document


def _section(operations: dict[str, Any]) -> int:
    tags = next(iter(operations.values())).get("tags", [])
    return next((_SECTIONS.index(tag) for tag in tags[:1] if tag in _SECTIONS), len(_SECTIONS))


def _inner_definitions(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Definitions that a hand-written request body brought along, moved to where its references point."""
    content = operation.get("requestBody", {}).get("content", {})
    return [part["schema"].pop("$defs") for part in content.values() if "$defs" in part.get("schema", {})]
