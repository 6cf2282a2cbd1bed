"""Every error has one status and one code, and says where it is wrong as the caller wrote it."""

import asyncio
import json
from typing import Annotated, Any

import httpx
import pytest
from fastapi import FastAPI, Query
from starlette.exceptions import HTTPException

from certiset.core import errors
from certiset.core.bounds import TooFewPointsError
from certiset.core.jobs.calibrations import CalibrationRequest
from certiset.core.sandbox import SandboxError
from certiset.service.http.access.requirements import AccessTable, requires
from certiset.service.http.problems import ProblemError, add_handlers, codes
from certiset.service.http.request_log import RequestLog
from certiset.service.http.routes.outcomes import OneOrMany
from certiset.service.serving.inference import BusyError

RAISED: list[tuple[Exception, int, str]] = [
    (errors.NotFoundError("There is no dataset ds-1."), 404, "not_found"),
    (errors.ConflictError("Not now."), 409, "conflict"),
    (errors.FileKindError("No such kind.", field="file"), 415, "unsupported_file"),
    (errors.DataError("x is wrong.", field="x"), 422, "invalid_data"),
    (errors.OptionError("alpha is wrong.", field="alpha"), 422, "invalid_option"),
    (errors.ModelError("The model is wrong."), 422, "invalid_model"),
    (TooFewPointsError("Too few.", 99, field="dataset_id"), 422, "too_few_points"),
    (SandboxError("was killed by SIGSEGV"), 422, "sandbox_failed"),
    (errors.DamagedFileError("The stored file is damaged."), 500, "damaged_file"),
    (errors.OtherArithmeticError("On this machine it computes other numbers."), 500, "other_arithmetic"),
    (errors.StoreFullError("Full."), 507, "store_full"),
    (errors.DatabaseUnavailableError("Try again."), 503, "database_unavailable"),
    (errors.DatabaseBusyError("Try again."), 503, "database_busy"),
    (errors.ArtifactsUnavailableError("Try again."), 503, "artifacts_unavailable"),
    (BusyError("Try again."), 503, "busy"),
    (errors.TooLargeError("Too many.", field="x"), 413, "too_large"),
    (ProblemError(415, "Not JSON."), 415, "unsupported_media_type"),
    (HTTPException(406, "Not acceptable."), 406, "bad_request"),
    (HTTPException(501, "Not implemented."), 501, "internal"),
    (errors.DuplicateError("secret"), 500, "internal"),
    (errors.SettingsError("secret"), 500, "internal"),
    (ZeroDivisionError("secret"), 500, "internal"),
]


class _Nothing:
    def count(self, *_: Any, **more: Any) -> None: ...
    def refused(self, reason: str) -> None: ...


class _Service:
    metrics = refusals = _Nothing()


def app_with(raised: Exception | None = None) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @app.get("/raise")
    @requires("read")
    async def fail(limit: Annotated[int, Query(ge=1)] = 1) -> None:
        assert raised is not None
        raise raised

    @app.post("/calibrations")
    @requires("write")
    async def calibrate(body: CalibrationRequest) -> None: ...

    @app.post("/outcomes")
    @requires("write")
    async def report(body: OneOrMany) -> None: ...

    add_handlers(app)
    app.state.service, app.state.access = _Service(), AccessTable(app.routes)
    app.add_middleware(RequestLog, access=app.state.access)
    return app


def ask(app: FastAPI, method: str, path: str, **options: Any) -> httpx.Response:
    async def asked() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
            return await client.request(method, path, **options)

    return asyncio.run(asked())


@pytest.mark.parametrize(("raised", "status", "code"), RAISED, ids=lambda value: type(value).__name__)
def test_an_error_has_one_status_and_one_code(raised: Exception, status: int, code: str) -> None:
    answer = ask(app_with(raised), "GET", "/raise")
    body = answer.json()
    assert (answer.status_code, body["status"], body["code"]) == (status, status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    # Statuses that have no code of their own share that of the plainest of their kind.
    assert codes()[code] == status or isinstance(raised, HTTPException)
    field = getattr(raised, "field", None)
    assert body.get("errors") == ([{"where": field, "message": str(raised)}] if field else None)
    assert ("Retry-After" in answer.headers) == (status in (503, 507))
    if code == "internal" and status == 500:
        assert body["detail"].startswith("Unexpected error; see the log for request id ")
        assert answer.headers["x-request-id"] in body["detail"]
        assert "secret" not in answer.text


def test_http_itself(server: Any, ada: httpx.Client) -> None:
    for method, path, status, code in (
        ("GET", "/nowhere", 404, "not_found"),
        ("DELETE", "/predictors", 405, "method_not_allowed"),
        ("DELETE", "/datasets/ds-1/rows", 405, "method_not_allowed"),
        ("POST", "/datasets", 415, "unsupported_media_type"),
    ):
        answer = ada.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (status, code), path
    assert ada.get("/nowhere").json()["detail"] == "/nowhere was not found."
    assert ada.delete("/predictors").json()["detail"] == "Method DELETE is not allowed here."
    assert ada.delete("/datasets").headers["allow"] == "GET, POST"
    assert ada.put("/datasets/ds-1").headers["allow"] == "DELETE, GET, PATCH"
    with server.client(None) as nobody, server.client("reader") as reader:
        assert nobody.get("/datasets").json()["code"] == "unauthorized"
        assert reader.post("/datasets").json()["code"] == "forbidden"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"prior": {"split": 2}}, "prior.split"),
    ({"prior": {"spilt": 0.5}}, "prior.spilt"),
    ({"prior": 1}, "prior"),
    ({"optimizer": {"kind": "magic"}}, "optimizer.kind"),
    ({"alpha": 1.5}, "alpha"),
    ({"alpha": 0.1, "confidence_level": 0.9}, "confidence_level"),
    ({"alpha_hat": [0.2, 3]}, "alpha_hat"),
    ({"alpha_hat": 0.2}, "alpha_hat"),
    ({"score": {"kind": "raps", "penalty": -1}}, "score.penalty"),
    ({"score": {"kind": "magic"}}, "score.kind"),
    ({"members": 1.5}, "members"),
    ({"alhpa": 0.1}, "alhpa"),
]


@pytest.mark.parametrize(("given", "field"), WRONG, ids=[json.dumps(given) for given, _ in WRONG])
def test_http_says_what_python_says(given: dict[str, Any], field: str) -> None:
    body = {"dataset_id": "ds-1", "model_id": "mod-1", **given}
    with pytest.raises(errors.OptionError) as refused:
        CalibrationRequest.read(body)
    answer = ask(app_with(), "POST", "/calibrations", json=body)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["detail"]) == (422, "invalid_option", str(refused.value))
    assert problem["errors"] == [{"where": field, "message": str(refused.value)}]


def test_all_wrong_fields_are_listed() -> None:
    problem = ask(app_with(), "POST", "/calibrations", json={"alpha": 2, "prior": {"split": "half"}}).json()
    assert {error["where"] for error in problem["errors"]} == {"alpha", "prior.split", "dataset_id", "model_id"}


def test_what_is_not_in_the_body_is_named_too() -> None:
    problem = ask(app_with(), "GET", "/raise", params={"limit": 0}).json()
    assert problem["errors"] == [{"where": "limit", "message": "limit must be at least 1, not '0'."}]
    for content in (b"{", b""):
        problem = ask(app_with(), "POST", "/calibrations", content=content).json()
        assert [error["where"] for error in problem["errors"]] == ["body"], content
    problem = ask(app_with(), "POST", "/calibrations", json=[1]).json()
    assert problem["errors"] == [{"where": "body", "message": "body must be an object with named fields, not [1]."}]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"prediction_id": "?", "y": 1}, "prediction_id"),
        ({"prediction_id": "a", "y": [1, "b"]}, "y.1"),
        ({"outcomes": [{"prediction_id": "a", "y": 1}, {"prediction_id": "a"}]}, "outcomes.1.y"),
        ({"outcomes": []}, "outcomes"),
        ({"outcomes": [], "y": 1}, "y"),
    ],
)
def test_of_two_forms_of_a_body_only_the_one_that_was_meant_is_spoken_of(body: dict[str, Any], field: str) -> None:
    problem = ask(app_with(), "POST", "/outcomes", json=body).json()
    assert field in [error["where"] for error in problem["errors"]]
    assert not any("Request" in error["where"] for error in problem["errors"])
