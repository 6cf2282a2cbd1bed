"""What a person wants to know before asking for a calibration."""

from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query

from certiset.core.insight_resources import Budget, DatasetProfile
from certiset.core.jobs.insights import budget_of, profile_of
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, PathId, problems

router = APIRouter(tags=["insights"], responses=ALWAYS)

Share = Annotated[float, Query(ge=1e-6, lt=1)]
Rows = Annotated[int, Query(ge=2, le=10**9, description="calibration rows")]
Counts = Annotated[
    str | None, Query(pattern=r"^\d{1,9}(,\d{1,9}){0,199}$", description="rows of each group, comma-separated")
]


@router.get("/budget", response_model=Budget, responses=problems(422))
@requires("read")
def get_budget(n: Rows, alpha: Share = 0.1, delta: Share = 0.05, groups: Counts = None) -> Any:
    """Whether so many rows are enough for a promise, and at which level the threshold would be."""
    return budget_of(n, alpha, delta, [int(one) for one in groups.split(",")] if groups else ())


@router.get("/datasets/{id}/profile", response_model=DatasetProfile, responses=problems(404, 422))
@requires("read")
async def get_profile(id: PathId, service: TheService, caller: TheCaller) -> Any:
    """Classes or a histogram of the target, equal rows, and columns that could be groups."""
    limiter = service.check_slots.of(caller.tenant)
    return await run_sync(profile_of, service.store, caller.tenant, id, limiter=limiter)
