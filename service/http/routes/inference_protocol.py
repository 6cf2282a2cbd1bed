"""The Open Inference Protocol, version 2: for clients of KServe and Triton, which need know nothing of certiset.

A predictor is a model with one input, ``x``, and its sets' arrays as outputs; where groups have thresholds, the groups
of the rows are a second input. A deployment is a model, too, whose version says which of its predictors answered.
"""

import importlib.metadata
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from certiset.core.errors import OptionError
from certiset.service.http.access.requirements import prediction_body, public, requires
from certiset.service.http.bodies import read_body
from certiset.service.http.json_bodies import parse_json
from certiset.service.http.long_answers import LongResponse
from certiset.service.http.open_inference import (
    CLASS_NAMES,
    HEAD_LENGTH,
    NUMBERS_AT,
    InferRequest,
    class_names,
    read_request,
    write_answer,
)
from certiset.service.http.prediction_requests import read_alpha
from certiset.service.http.problems import ProblemError
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, PathReference, problems
from certiset.service.serving.set_query import QueryFields, SetQuery

router = APIRouter(prefix="/v2", tags=["open inference protocol"])

_ALL_SETS = [("size", "FP64", 1), ("member", "INT64", 1), ("prediction_id", "BYTES", 1)]
"""outputs beside the arrays of the sets' kind"""
_OF_GROUPS = [("group", "BYTES", 1), ("whole_space", "BYTES", 1)]
"""where groups have thresholds of their own"""
_FIELDS = QueryFields("parameters.member", "parameters.cases", groups="inputs.1", alpha="parameters.alpha")


class Live(BaseModel):
    live: bool


class ServerReady(BaseModel):
    ready: bool


class ModelReady(BaseModel):
    name: str
    ready: bool


class ServerMetadata(BaseModel):
    name: str
    version: str
    extensions: list[str]


class TensorMetadata(BaseModel):
    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(BaseModel):
    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


@router.get("", response_model=ServerMetadata)
@public
async def server_metadata() -> Any:
    version = importlib.metadata.version("certiset")
    return ServerMetadata(name="certiset", version=version, extensions=["binary_tensor_data"])


@router.head("/health/live", include_in_schema=False)
@router.get("/health/live", response_model=Live)
@public
async def live() -> Any:
    return Live(live=True)


@router.head("/health/ready", include_in_schema=False)
@router.get("/health/ready", response_model=ServerReady, responses={503: {"model": ServerReady, "description": "no"}})
@public
async def ready(service: TheService) -> Any:
    found = (await service.readiness.look()).ready
    return JSONResponse({"ready": found}, 200 if found else 503)


@router.get("/models/{id}", response_model=ModelMetadata, responses={**ALWAYS, **problems(404, 422)})
@requires("read")
async def model_metadata(id: PathReference, service: TheService, caller: TheCaller) -> Any:
    cached, deployed = await service.sets.find(caller.tenant, id)
    predictor = cached.predictor
    scorer, groups = predictor.scorer, predictor.groups
    shape = [-1, *scorer.model.manifest.input_shape]
    outputs = [
        TensorMetadata(name=name, datatype=datatype, shape=[-1] * dimensions)
        for name, datatype, dimensions in [*scorer.score.sets.tensors(), *_ALL_SETS, *(_OF_GROUPS if groups else [])]
    ]
    if predictor.labels is not None:
        outputs.append(TensorMetadata(name=CLASS_NAMES, datatype="BYTES", shape=[len(predictor.labels)]))
    inputs = [TensorMetadata(name="x", datatype="FP32", shape=shape)]
    if groups is not None:
        inputs.append(
            TensorMetadata(name="groups", datatype="BYTES", shape=[-1] if groups.width == 1 else [-1, groups.width])
        )
    versions = ["1" if deployed is None else str(deployed.version)]
    return ModelMetadata(name=id, versions=versions, platform="certiset", inputs=inputs, outputs=outputs)


@router.get("/models/{id}/ready", response_model=ModelReady, responses={**ALWAYS, **problems(404, 422)})
@requires("read")
async def model_ready(id: PathReference, service: TheService, caller: TheCaller) -> Any:
    await service.sets.find(caller.tenant, id)
    return ModelReady(name=id, ready=True)


@router.post(
    "/models/{id}/infer",
    response_class=Response,
    responses={
        **ALWAYS,
        **problems(400, 404, 413, 422),
        200: {
            "description": "the sets' arrays",
            "content": {
                "application/json": {"schema": {"type": "object", "required": ["model_name", "outputs"]}},
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            },
        },
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": InferRequest.model_json_schema(ref_template="#/components/schemas/{model}")
                }
            },
        }
    },
)
@requires("read", largest_body=prediction_body, in_batches=True)
async def infer(
    id: PathReference,
    request: Request,
    service: TheService,
    caller: TheCaller,
    inference_header_content_length: Annotated[str | None, Header(pattern=r"^[0-9]{1,12}$")] = None,
) -> Response:
    sets, tenant = service.sets, caller.tenant
    body = await read_body(request, sets, tenant)
    length = int(inference_header_content_length) if inference_header_content_length else len(body)
    if length > len(body):
        raise ProblemError(400, f"{HEAD_LENGTH} says {length} bytes, but the body has {len(body)}.")
    # A view: as bytes of their own, the tensors would be copied by the event loop.
    raw = memoryview(body)[length:]
    folder, parse = service.settings.scratch, partial(read_request, raw=raw, most_rows=sets.max_rows)
    head = body[:length]
    with service.metrics.counting_deaths("body"):
        asked, x, groups = await parse_json(
            head, parse, NUMBERS_AT, sets=sets, tenant=tenant, folder=folder, further=len(raw)
        )
    member = asked.parameters.get("member")
    if member is not None and type(member) is not int:
        raise OptionError(f"{_FIELDS.member} must be a whole number.", field=_FIELDS.member)
    cases, alpha = asked.parameters.get("cases"), read_alpha(asked.parameters.get("alpha"), _FIELDS.alpha)
    served = await sets.serve(tenant, SetQuery(id, x, member, cases, groups=groups, alpha=alpha), _FIELDS)
    tail: list[bytes] = []
    arrays = {**await sets.in_thread(tenant, served.columns), **class_names(served)}
    parts = await sets.in_slices(tenant, write_answer(asked, served, arrays, tail))
    headers = {"Cache-Control": "no-store", "Server-Timing": served.timing}
    if not tail:
        return LongResponse(parts, headers=headers, media_type="application/json")
    headers[HEAD_LENGTH] = str(sum(map(len, parts)))
    return LongResponse([*parts, *tail], headers=headers, media_type="application/octet-stream")
