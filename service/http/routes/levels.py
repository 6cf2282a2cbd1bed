"""The levels of a predictor whose promise is for all alpha at once."""

from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query

from certiset.core.jobs.levels import levels_resource
from certiset.core.level_resources import Levels
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, PathId, problems

_SIZE = "asks for the smallest alpha at which that share of the sets is no larger"

router = APIRouter(tags=["predictors"], responses=ALWAYS)


@router.get("/predictors/{id}/levels", response_model=Levels, responses=problems(404, 409, 422))
@requires("read")
async def get_levels(
    id: PathId,
    service: TheService,
    caller: TheCaller,
    share: Annotated[float, Query(gt=0, le=1, description="of the sets that are at most of the given size")] = 0.9,
    size: Annotated[float | None, Query(ge=0, allow_inf_nan=False, description=_SIZE)] = None,
) -> Any:
    """For alpha: "all": ranks and sizes by alpha, and the rank that each would have had alone.

    Sizes are measured on the calibration rows, and certified where size_bound says so. Whatever alpha is chosen by them
    keeps the promise, as long as it is one for all inputs.
    """
    cached = await service.predictors.get(caller.tenant, id)
    slots = service.route_slots.of(caller.tenant)
    return await run_sync(levels_resource, cached.predictor.certificate, share, size, limiter=slots)
