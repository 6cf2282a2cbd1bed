"""Whether the service lives, is ready, and what it has counted."""

from typing import Any, Literal

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from certiset.core.resources import Ready
from certiset.service.http.access.requirements import public, requires
from certiset.service.http.routes.dependencies import TheService
from certiset.service.http.schemas.common import ALWAYS

router = APIRouter(tags=["health"])


class Alive(BaseModel):
    status: Literal["ok"]


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=Alive)
@public
async def healthz() -> Any:
    """Whether the process answers. Nothing else is touched."""
    return Alive(status="ok")


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", response_model=Ready, responses={503: {"model": Ready, "description": "no set can be served"}})
@public
async def readyz(service: TheService) -> Any:
    """Whether sets can be served, and which parts are degraded; looks at most once a second, however many ask."""
    found = await service.readiness.look()
    return JSONResponse(found.model_dump(), 200 if found.ready else 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={**ALWAYS, 200: {"description": "Prometheus", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
@requires("operator", action="metrics.read")
def metrics(service: TheService) -> Response:
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
