"""Sizes certified on fresh inputs."""

from functools import partial
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Response
from pydantic import Field

from certiset.core.fit.default_levels import DEFAULT_GAMMA
from certiset.core.jobs.sizes import certify_sizes
from certiset.core.store.identifiers import ID_PATTERN
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, PathReference, Strict, problems

router = APIRouter(tags=["predictors"], responses=ALWAYS)

_STATEMENT: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "the statement, also under its `Location` among the predictor's certificates",
        "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}},
    }
}


class SizesRequest(Strict):
    dataset_id: Annotated[str, Field(pattern=ID_PATTERN)]
    """fresh inputs, used for nothing else; their truths, if there are any, are not looked at"""
    gamma: Annotated[float, Field(gt=0, lt=1, strict=True)] = DEFAULT_GAMMA
    """the probability with which the statement may fail"""


@router.post(
    "/predictors/{id}/sizes",
    status_code=202,
    response_class=Response,
    responses={**_STATEMENT, **problems(400, 404, 409, 413, 422)},
)
@requires("write", action="predictor.sizes")
async def certify(
    id: PathReference, body: SizesRequest, service: TheService, caller: TheCaller, store: ActingStore
) -> Response:
    """Certifies the mean size of the sets as they are served, on a dataset of fresh inputs, which needs no truths.

    The statement is signed, immutable and listed among the predictor's certificates.
    """
    cached, _ = await service.sets.find(caller.tenant, id)
    work = partial(
        certify_sizes,
        store,
        caller.tenant,
        cached.id,
        cached.predictor,
        body.dataset_id,
        gamma=body.gamma,
        member=cached.only_member,
        signer=service.signer,
    )
    record = await run_sync(work, limiter=service.check_slots.of(caller.tenant))
    headers = {"Location": f"/certificates/{record.id}"}
    return Response(record.document, status_code=202, headers=headers, media_type="application/json")
