"""Sets for inputs: one by GET, many by POST, as JSON or .npz."""

import io
import json
import re
from typing import Annotated, Any
from urllib.parse import parse_qs

import numpy as np
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from numpy.typing import NDArray
from pydantic import Field
from pydantic_core import from_json

from core.datasets.limits import Limits
from core.datasets.npz_file import read_arrays
from service.access.keys import Caller
from service.problems import ProblemError, wrong_field
from service.routes.dependencies import TheCaller, TheService
from service.schemas.common import ALWAYS, ID_PATTERN, Id, Strict, problems
from service.serving.answering import Served, columns, serve
from service.state import Service

router = APIRouter(tags=["predict_set"], responses=ALWAYS)

NPZ = "application/x-npz"
_NPZ_TYPES = (NPZ, "application/zip", "application/octet-stream")
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_NUMBERS = rf"^\s*{_NUMBER}\s*(,\s*{_NUMBER}\s*)*$"
_LONGEST_JSON = 2**24
_LONGEST_X = 50_000
"""servers take addresses of up to 64 KiB"""
_ID = re.compile(ID_PATTERN)
_PARSED_INLINE = 2**16
"""longer bodies are parsed in a thread, so that others are not kept waiting"""

Member = Annotated[int | None, Query(ge=0, le=10_000, description="replays this member instead of drawing one")]


class PredictRequest(Strict):
    predictor: Id
    x: Annotated[list[Any], Field(min_length=1, description="rows, each of the model's input shape or flat")]
    member: Annotated[int, Field(ge=0, le=10_000)] | None = None


_SET: dict[str, Any] = {
    "type": "object",
    "required": ["kind", "size"],
    "properties": {
        "kind": {"enum": ["labels", "interval", "ball", "box"]},
        "size": {"type": ["number", "null"]},
        "empty": {"type": "boolean"},
        "unbounded": {"type": "boolean"},
    },
}
_ANSWER: dict[str, Any] = {
    "type": "object",
    "required": ["prediction_id", "predictor", "member", "set", "certificate"],
    "properties": {
        "prediction_id": {"type": "string"},
        "predictor": {"type": "string"},
        "member": {"type": "integer"},
        "set": _SET,
        "certificate": {
            "type": "object",
            "required": ["id", "coverage", "delta", "guarantee", "status"],
            "properties": {
                "id": {"type": "string"},
                "coverage": {"type": "number"},
                "delta": {"type": "number"},
                "guarantee": {"enum": ["per_draw", "posterior"]},
                "status": {"enum": ["consistent", "contradicted"]},
            },
        },
    },
}
_MANY: dict[str, Any] = {
    "type": "object",
    "required": ["predictor", "certificate", "predictions"],
    "properties": {
        "predictor": {"type": "string"},
        "certificate": _ANSWER["properties"]["certificate"],
        "predictions": {"type": "array", "items": _ANSWER},
    },
}


_ONE_QUERY: list[dict[str, Any]] = [
    {
        "name": "predictor",
        "in": "query",
        "required": True,
        "schema": {"type": "string", "pattern": ID_PATTERN},
    },
    {
        "name": "x",
        "in": "query",
        "required": True,
        "description": "the input's numbers, with commas",
        "schema": {"type": "string", "pattern": _NUMBERS, "maxLength": _LONGEST_X},
    },
    {
        "name": "member",
        "in": "query",
        "description": "replays this member instead of drawing one",
        "schema": {"type": "integer", "minimum": 0, "maximum": 10_000},
    },
]


async def predict_one(request: Request) -> Response:
    """The set for one input. A member is drawn from the system's randomness, and the answer names it."""
    service: Service = request.app.state.service
    caller: Caller = request.state.caller
    predictor, x, member = _query(request.scope["query_string"])
    served = await serve(service, caller.tenant, predictor, x, member)
    return Response(_one(served, 0), headers=_headers(served), media_type="application/json")


# The busiest route: a plain one of Starlette's, whose few parameters are read by hand, takes a third of the time.
router.add_route("/predict_set", predict_one, methods=["GET"], include_in_schema=False)
PREDICT_ONE: dict[str, Any] = {
    "tags": ["predict_set"],
    "summary": "Predict One",
    "operationId": "predict_one_predict_set_get",
    "description": predict_one.__doc__,
    "parameters": _ONE_QUERY,
    "responses": {
        str(status): content
        for status, content in {
            200: {"description": "a set", "content": {"application/json": {"schema": _ANSWER}}},
            **ALWAYS,
            **problems(404, 422),
            # The server's own words, before any of ours is asked.
            400: {"description": "the address is too long", "content": {"text/plain": {"schema": {"type": "string"}}}},
        }.items()
    },
}
"""its part of the OpenAPI document"""


def _query(text: bytes) -> tuple[str, NDArray[np.float64], int | None]:
    given = _fields(text)
    for name in ("predictor", "x"):
        if name not in given:
            raise wrong_field(name, f"{name} is missing.")
    for name, values in given.items():
        if name in ("predictor", "x", "member") and len(values) > 1:
            raise wrong_field(name, f"{name} is given more than once.")
    predictor = given["predictor"][0]
    if not _ID.fullmatch(predictor):
        raise wrong_field("predictor", "predictor must be an id, such as pred-1f0c.")
    if len(given["x"][0]) > _LONGEST_X:
        raise wrong_field("x", f"x has more than {_LONGEST_X:,} characters: send such an input by POST.")
    return predictor, _numbers(given["x"][0]), _member(given.get("member", [None])[0])


def _fields(text: bytes) -> dict[str, list[str]]:
    try:
        plain = text.decode("ascii")
        if "%" in plain or "+" in plain:
            return parse_qs(plain, keep_blank_values=True, errors="strict", max_num_fields=20)
        given: dict[str, list[str]] = {}
        for field in plain.split("&", 20):
            name, _, value = field.partition("=")
            given.setdefault(name, []).append(value)
    except ValueError:
        raise ProblemError(422, "The query cannot be read.") from None
    return given


def _numbers(text: str) -> NDArray[np.float64]:
    """(1, numbers). Pydantic's JSON parser is twice as quick as Python's floats, which know some spellings more."""
    try:
        row = from_json(f"[{text}]")
    except ValueError:
        try:
            row = [float(part) for part in text.split(",")] if text.isascii() and "_" not in text else None
        except ValueError:
            row = None
    try:
        array = np.array([row], dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        array = np.zeros(0)
    if row is None or array.ndim != 2 or array.size == 0:
        raise wrong_field("x", "x must be numbers with commas between them.")
    return array


def _member(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text):
        raise wrong_field("member", "member must be a whole number.")
    return int(text)


@router.post(
    "/predict_set",
    response_class=Response,
    responses={
        **problems(400, 404, 413, 415, 422),
        200: {
            "description": "sets, in the order of the rows",
            "content": {
                "application/json": {"schema": _MANY},
                NPZ: {"schema": {"type": "string", "format": "binary"}},
            },
        },
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": PredictRequest.model_json_schema()},
                NPZ: {"schema": {"type": "string", "format": "binary"}},
            },
        }
    },
)
async def predict_many(
    request: Request,
    service: TheService,
    caller: TheCaller,
    predictor: Annotated[str | None, Query(pattern=ID_PATTERN, description="for a body of .npz")] = None,
    member: Member = None,
) -> Response:
    """Sets for many inputs: a JSON body, or the array x in an .npz body; the answer is .npz if `Accept` says so."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    body = await request.body()
    x: Any
    if kind == "application/json":
        asked = await run_sync(_json, body) if len(body) > _PARSED_INLINE else _json(body)
        predictor, x, member = asked.predictor, asked.x, member if asked.member is None else asked.member
    elif kind in _NPZ_TYPES:
        if predictor is None:
            raise wrong_field("predictor", "With an .npz body, name the predictor as ?predictor=ID.")
        limits = Limits(unpacked_bytes=service.settings.max_predict_bytes)
        x = (await run_sync(lambda: read_arrays(io.BytesIO(body), ["x"], limits)))["x"]
        if x.ndim == 0:
            raise wrong_field("x", "x must hold one row for each input.")
    else:
        raise ProblemError(415, f"The body must be application/json or {NPZ}, not {kind or 'of unknown kind'}.")
    served = await serve(service, caller.tenant, predictor, x, member)
    if _wants_npz(request):
        return Response(await run_sync(_npz, served), headers=_headers(served), media_type=NPZ)
    answer = await run_sync(_many, served) if len(served.ids) > 100 else _many(served)
    return Response(answer, headers=_headers(served), media_type="application/json")


def _json(body: bytes) -> PredictRequest:
    """By hand: a wrong body must not cost more than a right one."""
    if len(body) > _LONGEST_JSON:
        raise ProblemError(413, f"A JSON body may have at most {_LONGEST_JSON:,} bytes: send more as {NPZ}.")
    try:
        given = from_json(body)
    except ValueError as error:
        raise wrong_field("body", f"The body is not JSON: {error}.") from None
    if not isinstance(given, dict):
        raise wrong_field("body", "The body must be an object with predictor and x.")
    unknown = next((name for name in given if name not in ("predictor", "x", "member")), None)
    if unknown is not None:
        raise wrong_field(unknown[:100], f"There is no field {unknown[:100]!r}; there are predictor, x and member.")
    if not isinstance(given.get("predictor"), str) or not _ID.fullmatch(given["predictor"]):
        raise wrong_field("predictor", "predictor must be an id, such as pred-1f0c.")
    if not isinstance(given.get("x"), list) or not given["x"]:
        raise wrong_field("x", "x must be a list of rows.")
    member = given.get("member")
    if member is not None and (type(member) is not int or member < 0):
        raise wrong_field("member", "member must be a whole number.")
    return PredictRequest.model_construct(predictor=given["predictor"], x=given["x"], member=member)


def _wants_npz(request: Request) -> bool:
    accepted = [part.partition(";")[0].strip() for part in request.headers.get("accept", "").lower().split(",")]
    return any(part in _NPZ_TYPES for part in accepted) and "application/json" not in accepted


def _headers(served: Served) -> dict[str, str]:
    return {"Cache-Control": "no-store", "Server-Timing": served.timing}


def _one(served: Served, row: int) -> bytes:
    head = {
        "prediction_id": served.ids[row],
        "predictor": served.loaded.id,
        "member": int(served.members[row]),
        "set": served.sets[row],
    }
    return json.dumps(head)[:-1].encode() + b', "certificate": ' + served.loaded.certificate_json + b"}"


def _many(served: Served) -> bytes:
    rows = b", ".join(_one(served, row) for row in range(len(served.ids)))
    head = json.dumps({"predictor": served.loaded.id})[:-1].encode()
    return head + b', "certificate": ' + served.loaded.certificate_json + b', "predictions": [' + rows + b"]}"


def _npz(served: Served) -> bytes:
    stream = io.BytesIO()
    arrays: dict[str, NDArray[Any]] = columns(served)
    certificate = np.frombuffer(served.loaded.certificate_json, dtype=np.uint8)
    np.savez(stream, **arrays, certificate_json=certificate)  # type: ignore[arg-type]
    return stream.getvalue()
