"""The Open Inference Protocol, version 2: for clients of KServe and Triton, which need know nothing of certiset.

A predictor is a model with one input, ``x``, and its sets' arrays as outputs. Tensors come and go as JSON or, with the
header ``Inference-Header-Content-Length``, as raw bytes after it.
"""

import importlib.metadata
import json
import struct
from typing import Annotated, Any, Literal

import numpy as np
from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from certiset.core.errors import OptionError
from certiset.service.http.access.requirements import prediction_body, public, requires
from certiset.service.http.problems import ProblemError
from certiset.service.http.request_errors import body_error
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, PathId, problems
from certiset.service.serving.set_server import ServedSets

router = APIRouter(prefix="/v2", tags=["open inference protocol"])

_BINARY = "Inference-Header-Content-Length"
_DTYPES = {
    "BOOL": np.dtype("?"),
    "UINT8": np.dtype("<u1"),
    "UINT16": np.dtype("<u2"),
    "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"),
    "INT8": np.dtype("<i1"),
    "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"),
    "INT64": np.dtype("<i8"),
    "FP16": np.dtype("<f2"),
    "FP32": np.dtype("<f4"),
    "FP64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_ALL_SETS = [("size", "FP64", 1), ("member", "INT64", 1), ("prediction_id", "BYTES", 1)]
"""outputs beside the arrays of the sets' kind"""


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


class Loose(BaseModel):
    """Clients of the protocol may send parameters that we do not know."""

    model_config = ConfigDict(extra="ignore")


class InputTensor(Loose):
    name: Annotated[str, Field(max_length=200)]
    shape: Annotated[list[Annotated[int, Field(ge=0, le=2**40)]], Field(min_length=1, max_length=32)]
    datatype: Literal[
        "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64"
    ]
    parameters: dict[str, Any] = Field(default_factory=dict)
    data: list[Any] | None = None


class RequestedOutput(Loose):
    name: Annotated[str, Field(max_length=200)]
    parameters: dict[str, Any] = Field(default_factory=dict)


class InferRequest(Loose):
    id: Annotated[str, Field(max_length=200)] | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    inputs: Annotated[list[InputTensor], Field(min_length=1, max_length=1)]
    outputs: Annotated[list[RequestedOutput], Field(max_length=20)] | None = None


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
async def model_metadata(id: PathId, service: TheService, caller: TheCaller) -> Any:
    scorer = (await service.predictors.get(caller.tenant, id)).predictor.scorer
    shape = [-1, *scorer.model.manifest.input_shape]
    outputs = [
        TensorMetadata(name=name, datatype=datatype, shape=[-1] * dimensions)
        for name, datatype, dimensions in [*scorer.score.sets.tensors(), *_ALL_SETS]
    ]
    inputs = [TensorMetadata(name="x", datatype="FP32", shape=shape)]
    return ModelMetadata(name=id, versions=["1"], platform="certiset", inputs=inputs, outputs=outputs)


@router.get("/models/{id}/ready", response_model=ModelReady, responses={**ALWAYS, **problems(404, 422)})
@requires("read")
async def model_ready(id: PathId, service: TheService, caller: TheCaller) -> Any:
    await service.predictors.get(caller.tenant, id)
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
@requires("read", largest_body=prediction_body)
async def infer(
    id: PathId,
    request: Request,
    service: TheService,
    caller: TheCaller,
    inference_header_content_length: Annotated[str | None, Header(pattern=r"^[0-9]{1,12}$")] = None,
) -> Response:
    body = await request.body()
    length = int(inference_header_content_length) if inference_header_content_length else len(body)
    if length > len(body):
        raise ProblemError(400, f"{_BINARY} says {length} bytes, but the body has {len(body)}.")
    asked = await run_sync(_request, body[:length])
    x = await run_sync(_tensor, asked.inputs[0], body[length:])
    member = asked.parameters.get("member")
    if member is not None and type(member) is not int:
        raise OptionError("parameters.member must be a whole number.", field="parameters.member")
    served = await service.sets.serve(caller.tenant, id, x, member, member_field="parameters.member")
    return await run_sync(_answer, asked, served)


def _request(head: bytes) -> InferRequest:
    try:
        return InferRequest.model_validate_json(head)
    except ValidationError as error:
        raise body_error(error, InferRequest) from None


def _tensor(given: InputTensor, raw: bytes) -> NDArray[Any]:
    if given.name != "x":
        raise OptionError("The one input is named x.", field="inputs.0.name")
    dtype, size = _DTYPES[given.datatype], 1
    for side in given.shape:
        size *= side
    binary = given.parameters.get("binary_data_size")
    if binary is not None:
        if binary != len(raw) or binary != size * dtype.itemsize:
            message = f"{len(raw)} bytes follow the JSON, and the shape needs {size * dtype.itemsize}."
            raise OptionError(message, field="inputs.0.parameters.binary_data_size")
        try:
            return np.frombuffer(raw, dtype=dtype).reshape(given.shape)
        except ValueError:
            raise OptionError("No array has that shape.", field="inputs.0.shape") from None
    try:
        array = np.array(given.data if given.data is not None else [])
        if array.dtype.kind not in "biuf" or array.size != size:
            raise ValueError
        with np.errstate(over="ignore", invalid="ignore"):
            return array.astype(dtype).reshape(given.shape)
    except (ValueError, OverflowError, TypeError):
        raise OptionError(f"data must be {size} numbers, as the shape says.", field="inputs.0.data") from None


def _answer(asked: InferRequest, served: ServedSets) -> Response:
    arrays = served.columns()
    wanted = [output.name for output in asked.outputs] if asked.outputs else list(arrays)
    unknown = [name for name in wanted if name not in arrays]
    if unknown:
        raise OptionError(f"There is no output {unknown[0]}; there are {', '.join(arrays)}.", field="outputs")
    all_binary = bool(asked.parameters.get("binary_data_output"))
    binary = {o.name: bool(o.parameters.get("binary_data", all_binary)) for o in asked.outputs or []}
    outputs, tail = [], b""
    for name in wanted:
        tensor, raw = _output(name, arrays[name], as_bytes=binary.get(name, all_binary))
        outputs.append(tensor)
        tail += raw
    certificate = json.loads(served.predictor.certificate_json)
    parameters = {f"certificate_{key}": value for key, value in certificate.items()}
    head = {"model_name": served.predictor.id, "model_version": "1", "parameters": parameters, "outputs": outputs}
    content = json.dumps(head | ({"id": asked.id} if asked.id else {})).encode()
    headers = {"Cache-Control": "no-store", "Server-Timing": served.timing}
    if not tail:
        return Response(content, headers=headers, media_type="application/json")
    return Response(
        content + tail, headers=headers | {_BINARY: str(len(content))}, media_type="application/octet-stream"
    )


def _output(name: str, array: NDArray[Any], *, as_bytes: bool) -> tuple[dict[str, Any], bytes]:
    shape = list(array.shape)
    if array.dtype.kind == "S":
        tensor = {"name": name, "datatype": "BYTES", "shape": shape}
        if as_bytes:
            raw = b"".join(struct.pack("<I", len(value)) + value for value in array.tolist())
            return tensor | {"parameters": {"binary_data_size": len(raw)}}, raw
        return tensor | {"data": [value.decode() for value in array.tolist()]}, b""
    array = array.astype(array.dtype.newbyteorder("<"))
    tensor = {"name": name, "datatype": _NAMES[array.dtype], "shape": shape}
    if as_bytes:
        raw = array.tobytes()
        return tensor | {"parameters": {"binary_data_size": len(raw)}}, raw
    flat = array.reshape(-1)
    values = flat.tolist()
    if array.dtype.kind == "f" and not np.isfinite(flat).all():
        # JSON has no infinity; an end without bound is null.
        values = [value if np.isfinite(value) else None for value in values]
    return tensor | {"data": values}, b""
