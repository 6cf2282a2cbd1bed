"""What routes declare is what is asked of callers."""

from pathlib import Path

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from certiset.core.settings import Settings
from certiset.service.http.access.requirements import AccessTable, prediction_body, public, requires
from certiset.service.http.app import create_app


async def endpoint() -> None: ...


async def _file(path: str) -> None: ...


def app(**routes: object) -> FastAPI:
    made = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    made.get("/open")(public(lambda: None))
    made.get("/things")(requires("read")(lambda: None))
    made.post("/things", name="add")(requires("write", largest_body=prediction_body)(lambda: None))
    made.get("/things/key")(requires("admin")(lambda: None))
    made.get("/things/{id}")(requires("read")(lambda id: None))
    made.delete("/things/{id}")(requires("write")(lambda id: None))
    return made


def test_a_request_needs_what_its_route_declares() -> None:
    table = AccessTable(app().routes)
    for method, path, scope in (
        ("GET", "/open", None),
        ("GET", "/things", "read"),
        ("POST", "/things", "write"),
        ("GET", "/things/key", "admin"),
        ("GET", "/things/1", "read"),
        ("DELETE", "/things/1", "write"),
    ):
        assert table.of(method, path).scope == scope, (method, path)
    settings = Settings()
    assert table.of("POST", "/things").largest_body(settings) == settings.max_predict_bytes
    assert table.of("DELETE", "/things/1").largest_body(settings) == 2**16
    assert table.declared("DELETE", "/things/{id}").scope == "write"
    assert table.methods("/things/1") == ["DELETE", "GET"]
    assert (table.is_fixed("/things"), table.is_fixed("/things/1")) == (True, False)


def test_of_several_routes_at_a_path_the_one_that_serves_the_method_is_asked() -> None:
    made = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    made.get("/things/{id}")(requires("read")(lambda id: None))
    made.delete("/things/{thing_id}")(requires("admin", largest_body=prediction_body)(lambda thing_id: None))
    made.get("/things/key")(public(lambda: None))
    made.put("/things/key")(requires("admin")(lambda: None))
    made.get("/first/key")(public(lambda: None))
    made.get("/first/{id}")(requires("admin")(lambda id: None))
    made.delete("/first/{id}")(requires("admin")(lambda id: None))
    table = AccessTable(made.routes)
    for method, path, scope in (
        ("GET", "/things/1", "read"),
        ("DELETE", "/things/1", "admin"),
        ("DELETE", "/things/key", "admin"),
        # The template stands first, and so serves this path, too.
        ("GET", "/things/key", "read"),
        ("PUT", "/things/key", "admin"),
        ("GET", "/first/key", None),
        ("DELETE", "/first/key", "admin"),
        ("POST", "/first/key", "write"),
    ):
        assert table.of(method, path).scope == scope, (method, path)
    settings = Settings()
    assert table.of("DELETE", "/things/key").largest_body(settings) == settings.max_predict_bytes
    assert table.methods("/things/1") == ["DELETE", "GET"]
    assert table.methods("/things/key") == ["DELETE", "GET", "PUT"]
    assert table.methods("/first/key") == ["DELETE", "GET"]


def test_a_mounted_app_is_asked_whatever_the_method_is() -> None:
    made = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    made.mount("/inner", requires("admin")(FastAPI()))
    made.mount("/files", public(FastAPI()))
    made.post("/inner/{id}")(public(lambda id: None))
    table = AccessTable(made.routes)
    for method in ("GET", "POST", "PROPFIND"):
        assert table.of(method, "/inner/x").scope == "admin"
        assert table.of(method, "/files/x").scope is None
    assert table.methods("/files/x") == ["GET", "HEAD"]


def test_what_nobody_serves_asks_for_a_key() -> None:
    table = AccessTable(app().routes)
    for method, path, scope in (
        ("GET", "/nowhere", "read"),
        ("HEAD", "/things", "read"),
        ("PUT", "/nowhere", "write"),
        ("PATCH", "/things/1", "write"),
        ("GET", "/things/1/more", "read"),
        ("GET", "/open/more", "read"),
    ):
        assert table.of(method, path).scope == scope, (method, path)
    assert table.of("POST", "/open").scope is None
    assert table.methods("/nowhere") == []


def test_a_route_that_declares_nothing_is_an_error_when_the_app_is_made() -> None:
    made = app()
    made.get("/forgotten")(endpoint)
    with pytest.raises(TypeError, match="/forgotten declares no scope"):
        AccessTable(made.routes)


def test_the_document_states_what_the_gate_asks(tmp_path: Path) -> None:
    made = create_app(Settings(home=tmp_path))
    for path, operations in made.openapi()["paths"].items():
        for method, operation in operations.items():
            asked = made.state.access.of(method.upper(), path.replace("{id}", "x-1").replace("{name}", "loss"))
            scopes = [asked.scope, asked.or_scope] if asked.or_scope else [asked.scope]
            stated = operation.get("security", [{"bearer": [None]}])
            assert stated == [{"bearer": [scope]} for scope in scopes], (method, path)
            if method != "get" and asked.changes:
                assert asked.action is not None, f"{method} {path} must say what the audit log calls it"
    assert made.openapi()["paths"]["/metrics"]["get"]["security"] == [{"bearer": ["operator"]}]
    assert made.openapi()["paths"]["/audit"]["get"]["security"] == [{"bearer": ["admin"]}, {"bearer": ["operator"]}]
    assert "security" not in made.openapi()["paths"]["/healthz"]["get"]


def test_what_fastapi_parses_on_the_event_loop_is_short(tmp_path: Path) -> None:
    made = create_app(Settings(home=tmp_path))
    parsed = [route for route in made.routes if isinstance(route, APIRoute) and route.body_field is not None]
    assert parsed
    for route in parsed:
        for method in route.methods or ():
            needed = made.state.access.declared(method, route.path_format)
            assert needed.largest_body(Settings(home=tmp_path)) <= 2**16, route.path


def test_further_routers_need_no_tags_and_may_take_whole_paths(tmp_path: Path) -> None:
    further = APIRouter()
    further.get("/files/{path:path}")(requires("admin")(_file))
    made = create_app(Settings(home=tmp_path), [further])
    assert made.state.access.of("GET", "/files/a/b").scope == "admin"
    paths = made.openapi()["paths"]
    assert paths["/files/{path}"]["get"]["security"] == [{"bearer": ["admin"]}]
    assert list(paths)[-1] == "/files/{path}", "behind the service's own"


def test_two_apps_have_the_same_document(tmp_path: Path) -> None:
    first, second = (create_app(Settings(home=tmp_path)).openapi() for _ in range(2))
    assert first == second
