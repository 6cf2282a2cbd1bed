"""Sets for inputs: one by GET, many by POST, as JSON or .npz."""

import io
import json
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from certiset.core.data.case_names import LONGEST_CASE
from certiset.core.data.group_labels import LONGEST_VALUE
from certiset.core.errors import OptionError
from certiset.core.fit.group_answers import all_group_words, group_words
from certiset.core.store.identifiers import REFERENCE_PATTERN
from certiset.service.http.access.keys import Caller
from certiset.service.http.access.requirements import prediction_body, requires
from certiset.service.http.bodies import read_body
from certiset.service.http.json_bodies import parse_json
from certiset.service.http.long_answers import LongResponse
from certiset.service.http.openapi import DESCRIPTION
from certiset.service.http.prediction_arrays import read_npz
from certiset.service.http.prediction_requests import (
    ALPHA,
    CASES,
    LONGEST_X,
    MOST_MEMBERS,
    NUMBERS,
    PredictRequest,
    read_json,
    read_query,
)
from certiset.service.http.problems import ProblemError
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, problems
from certiset.service.http.schemas.predictions import PREDICTION, PREDICTIONS
from certiset.service.http.state import Service
from certiset.service.serving.set_query import IN_JSON, QueryFields
from certiset.service.serving.set_server import ServedSets
from certiset.service.serving.slices import row_slices

router = APIRouter(tags=["predict_set"], responses=ALWAYS)

NPZ = "application/x-npz"
_NPZ_TYPES = (NPZ, "application/zip", "application/octet-stream")
_ROWS_AT_ONCE, _NUMBERS_AT_ONCE = 64, 2**11
"""written as JSON before others have their turn"""
_REFERENCE = "a predictor's id, or the name of a deployment"
_REPLAYS = "replays this member instead of drawing one"

_IN_ADDRESS = QueryFields(cases="case", groups="group")
_IN_ARRAYS = QueryFields(cases="case")

Member = Annotated[int | None, Query(ge=0, le=MOST_MEMBERS, description=_REPLAYS)]


@requires("read", largest_body=prediction_body)
async def predict_one(request: Request) -> Response:
    """The set for one input. A member is drawn from the system's randomness, and the answer names it."""
    service: Service = request.app.state.service
    caller: Caller = request.state.caller
    asked = read_query(request.scope["query_string"])
    served = await service.sets.serve(caller.tenant, asked, _IN_ADDRESS)
    answer = await service.sets.in_thread(caller.tenant, _one, served, 0) if served.is_large else _one(served, 0)
    return Response(answer, headers=_headers(served), media_type="application/json")


_ONE: dict[str, Any] = {
    "tags": ["predict_set"],
    "summary": "Predict One",
    "operationId": "predict_one_predict_set_get",
    "description": predict_one.__doc__,
    "parameters": [
        {
            "name": "predictor",
            "in": "query",
            "required": True,
            "description": _REFERENCE,
            "schema": {"type": "string", "pattern": REFERENCE_PATTERN},
        },
        {
            "name": "x",
            "in": "query",
            "required": True,
            "description": "the input, as comma-separated numbers",
            "schema": {"type": "string", "pattern": NUMBERS, "maxLength": LONGEST_X},
        },
        {
            "name": "member",
            "in": "query",
            "description": _REPLAYS,
            "schema": {"type": "integer", "minimum": 0, "maximum": MOST_MEMBERS},
        },
        {
            "name": "case",
            "in": "query",
            "description": CASES,
            "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_CASE},
        },
        {
            "name": "group",
            "in": "query",
            "description": "the group of the input, where the predictor has a threshold for every group; once for each "
            "column where columns cross",
            "schema": {"type": "array", "items": {"type": "string", "maxLength": LONGEST_VALUE}},
        },
        {
            "name": "alpha",
            "in": "query",
            "description": ALPHA,
            "schema": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        },
    ],
    "responses": {
        str(status): content
        for status, content in {
            200: {"description": "a set", "content": {"application/json": {"schema": PREDICTION}}},
            **ALWAYS,
            **problems(404, 422),
            # The server's own words, before any of ours is asked.
            400: {"description": "the address is too long", "content": {"text/plain": {"schema": {"type": "string"}}}},
        }.items()
    },
}
# The busiest route: a plain one of Starlette's, whose few parameters are read by hand, takes a third of the time.
router.add_route("/predict_set", predict_one, methods=["GET"], include_in_schema=False)
setattr(predict_one, DESCRIPTION, {"get": _ONE})


@router.post(
    "/predict_set",
    response_class=Response,
    responses={
        **problems(400, 404, 413, 415, 422),
        200: {
            "description": "sets, in the order of the rows",
            "content": {
                "application/json": {"schema": PREDICTIONS},
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
@requires("read", largest_body=prediction_body, in_batches=True)
async def predict_many(
    request: Request,
    service: TheService,
    caller: TheCaller,
    predictor: Annotated[
        str | None, Query(pattern=REFERENCE_PATTERN, description=f"for a body of .npz: {_REFERENCE}")
    ] = None,
    member: Member = None,
    case: Annotated[
        str | None, Query(min_length=1, max_length=LONGEST_CASE, description=f"for a body of .npz: {CASES}")
    ] = None,
    alpha: Annotated[float | None, Query(gt=0, lt=1, description=f"for a body of .npz: {ALPHA}")] = None,
) -> Response:
    """Sets for many inputs: a JSON body, or the array x in an .npz body; the answer is .npz if `Accept` says so.

    Beside x an .npz body may have the array case: texts, UTF-8 bytes or whole numbers, one for each row; the array
    groups, with the group of each row; and column_names, the names of the columns of x, which are then put in the order
    of the calibration rows' columns.
    """
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and kind not in _NPZ_TYPES:
        raise ProblemError(415, f"The body must be application/json or {NPZ}, not {kind or 'of unknown kind'}.")
    sets, tenant = service.sets, caller.tenant
    body = await read_body(request, sets, tenant)
    if kind == "application/json":
        with service.metrics.counting_deaths("body"):
            folder = service.settings.scratch
            asked = await parse_json(body, read_json, ["x"], sets=sets, tenant=tenant, folder=folder)
    else:
        read = partial(service.npz_bodies.read, tenant)
        with service.metrics.counting_deaths("body"):
            asked = await sets.in_thread(tenant, read_npz, body, predictor, read, sets.max_rows)
        if case is not None and asked.cases is not None:
            raise OptionError("case is given twice, in the address and as an array.", field="case")
    asked = asked._replace(
        member=member if asked.member is None else asked.member,
        cases=case if asked.cases is None else asked.cases,
        alpha=alpha if asked.alpha is None else asked.alpha,
    )
    served = await sets.serve(tenant, asked, IN_JSON if kind == "application/json" else _IN_ARRAYS)
    if _wants_npz(request):
        return LongResponse([await sets.in_thread(tenant, _npz, served)], headers=_headers(served), media_type=NPZ)
    answer = await sets.in_slices(tenant, _many(served)) if served.is_large else [*_many(served)]
    return LongResponse(answer, headers=_headers(served), media_type="application/json")


def _wants_npz(request: Request) -> bool:
    accepted = [part.partition(";")[0].strip() for part in request.headers.get("accept", "").lower().split(",")]
    return any(part in _NPZ_TYPES for part in accepted) and "application/json" not in accepted


def _headers(served: ServedSets) -> dict[str, str]:
    return {"Cache-Control": "no-store", "Server-Timing": served.timing}


def _one(served: ServedSets, row: int) -> bytes:
    head = {
        "prediction_id": served.ids[row].decode(),
        **_who(served),
        "member": int(served.members[row]),
        **({} if served.groups is None else group_words(served.predictor.predictor, int(served.groups[row]))),
        "set": served.sets[row],
    }
    return json.dumps(head)[:-1].encode() + b', "certificate": ' + served.certificate_json + b"}"


def _who(served: ServedSets) -> dict[str, Any]:
    """Which predictor answers, and under which name and version it was asked."""
    found: dict[str, Any] = {"predictor": served.predictor.id}
    return found if served.deployed is None else found | {"deployment": served.deployed.to_json()}


def _many(served: ServedSets) -> Iterator[bytes]:
    """In parts, each of which is written in a fraction of a millisecond."""
    who, certificate = _who(served), served.certificate_json
    yield json.dumps(who)[:-1].encode() + b', "certificate": ' + certificate + b', "predictions": ['
    promise, between = json.loads(certificate), b""
    words = all_group_words(served.predictor.predictor)
    for part in row_slices(len(served.ids), served.sets.row_numbers, at_once=_ROWS_AT_ONCE, most=_NUMBERS_AT_ONCE):
        found = served.sets.take(part).to_json()
        rows = zip(
            served.ids[part].tolist(), served.members[part].tolist(), _groups(served, part, words), found, strict=True
        )
        written = [
            {"prediction_id": name.decode(), **who, "member": member, **group, "set": one, "certificate": promise}
            for name, member, group, one in rows
        ]
        yield between + json.dumps(written)[1:-1].encode()
        between = b", "
    yield b"]}"


def _groups(served: ServedSets, part: slice, words: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is said about the group of each row, if anything is."""
    if served.groups is None:
        return [{}] * len(served.ids[part])
    return [words[code] for code in served.groups[part].tolist()]


def _npz(served: ServedSets) -> bytes:
    stream = io.BytesIO()
    kind = np.array(served.sets.kind, dtype="S")
    certificate = np.frombuffer(served.certificate_json, dtype=np.uint8)
    labels = served.predictor.predictor.labels
    further = {"who_json": np.frombuffer(json.dumps(_who(served)).encode(), dtype=np.uint8)}
    further |= {} if labels is None else {"names": np.array(labels)}
    np.savez(stream, **served.columns(), kind=kind, certificate_json=certificate, **further)  # type: ignore[arg-type]
    return stream.getvalue()
