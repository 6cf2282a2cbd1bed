"""What a tenant has, and may have."""

from typing import Any

from fastapi import APIRouter

from certiset.core.jobs.views import usage_resource
from certiset.core.resources import Usage
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS

router = APIRouter(tags=["usage"], responses=ALWAYS)


@router.get("/usage", response_model=Usage)
@requires("read")
def get_usage(service: TheService, caller: TheCaller) -> Any:
    """What the key's tenant has of everything that is limited, and the limits."""
    with service.store.reading() as work:
        return usage_resource(caller.tenant, work.tenants.usage(caller.tenant), work.tenants.allowed(caller.tenant))
