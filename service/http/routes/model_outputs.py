"""What the model of a predictor says by itself, to be shown beside its sets."""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field, TypeAdapter

from certiset.core.insight_resources import ModelOutputs
from certiset.service.http.access.requirements import few_rows_body, requires
from certiset.service.http.bodies import read_body
from certiset.service.http.json_bodies import parse_model
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, PathReference, Strict, problems

router = APIRouter(tags=["predictors"], responses=ALWAYS)


class OutputsRequest(Strict):
    x: Annotated[list[Any], Field(min_length=1)]
    """rows, each of the model's input shape or flat"""


_BODY = TypeAdapter(OutputsRequest)


@router.post(
    "/predictors/{id}/outputs",
    response_model=ModelOutputs,
    responses=problems(400, 404, 413, 422),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": OutputsRequest.model_json_schema()}},
        }
    },
)
@requires("read", largest_body=few_rows_body)
async def model_outputs(id: PathReference, request: Request, service: TheService, caller: TheCaller) -> Any:
    """What the model itself says about some rows, as it was uploaded: probabilities of the classes, or numbers.

    Nothing is promised for them, no set is issued and no outcome can be reported: to look at beside the sets.
    """
    sets, tenant = service.sets, caller.tenant
    body = await parse_model(await read_body(request, sets, tenant), _BODY, sets=sets, tenant=tenant)
    cached, outputs = await sets.model_outputs(tenant, id, body.x)
    is_classifier = cached.predictor.scorer.model.manifest.task == "classification"
    return ModelOutputs(
        predictor_id=cached.id,
        kind="probabilities" if is_classifier else "numbers",
        names=cached.predictor.labels,
        outputs=tuple(map(tuple, outputs.tolist())),
    )
