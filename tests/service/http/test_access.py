"""No key, no entry; no scope, no change; another tenant's records are not there."""

import httpx
import pytest

from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.service.cli.main import main
from certiset.service.http.access.rate_limit import RateLimit
from tests.service.server import Server


def routes(server: Server) -> list[tuple[str, str]]:
    document = httpx.get(f"{server.url}/openapi.json").json()
    return [(method.upper(), path) for path, operations in document["paths"].items() for method in operations]


FIGURES = {"calibrations": "loss", "certificates": "budget", "predictors": "band"}
OPEN = {"/healthz", "/readyz", "/v2", "/v2/health/live", "/v2/health/ready"}


def test_without_a_key_only_health_and_the_page_are_open(server: Server) -> None:
    with server.client(None) as nobody:
        for method, path in routes(server):
            answer = nobody.request(method, path.replace("{id}", "pred-1").replace("{name}", "loss"))
            assert answer.status_code == (200 if path in OPEN else 401), (method, path)
            if answer.status_code == 401:
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.headers["www-authenticate"] == "Bearer"
        assert nobody.get("/").status_code == 200
        assert nobody.get("/static/app.js").status_code == 200
        assert nobody.get("/static/../app.py").status_code in (401, 404)


@pytest.mark.parametrize("key", ["nonsense", "cs_" + "a" * 43, "\xff", "a" * 10_000])
def test_a_wrong_key_is_no_key(server: Server, key: str) -> None:
    for headers in ({"Authorization": f"Bearer {key}"}, {"X-API-Key": key}, {"Authorization": f"Basic {key}"}):
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        assert httpx.get(f"{server.url}/predictors", headers=raw).status_code == 401


def test_both_ways_to_send_a_key(server: Server) -> None:
    assert httpx.get(f"{server.url}/predictors", headers={"X-API-Key": server.keys["ada"]}).status_code == 200


def test_scopes(server: Server) -> None:
    reader, writer = server.client("reader"), server.client("writer")
    with reader, writer:
        assert reader.get("/predictors").status_code == 200
        assert reader.post("/predict_set", json={"predictor": server.id("regression"), "x": [[0.1]]}).status_code == 200
        for method, path in (("POST", "/datasets"), ("POST", "/calibrations"), ("DELETE", "/datasets/ds-1")):
            answer = reader.request(method, path)
            assert answer.status_code == 403
            assert answer.json()["detail"] == "This key lacks the scope 'write'."
        assert writer.get("/metrics").status_code == 403
    with server.client("operator") as operator, server.client() as admin:
        assert operator.get("/metrics").status_code == 200
        assert admin.get("/metrics").json()["detail"] == "This key lacks the scope 'operator'."
        for path in ("/predictors", "/datasets", "/predict_set?x=0.1"):
            assert operator.get(path).json()["detail"] == "This key lacks the scope 'read'."
        assert operator.delete("/datasets/ds-1").status_code == 403


def test_every_route_with_another_tenants_ids_finds_nothing(server: Server) -> None:
    calibration = server.calibrations["regression"]
    ids = {
        "datasets": calibration.dataset_id,
        "models": calibration.model_id,
        "calibrations": calibration.id,
        "predictors": server.id("regression"),
        "certificates": server.predictors["regression"].certificate.id,
        "v2": server.id("regression"),
    }
    bodies = {
        **{("PATCH", f"/{kind}/{{id}}"): {"name": "mine"} for kind in ("datasets", "models")},
        ("PATCH", "/predictors/{id}"): {"serve": "random"},
        ("POST", "/predictors/{id}/sizes"): {"dataset_id": calibration.dataset_id},
        ("POST", "/predictors/{id}/outputs"): {"x": [[0.1]]},
        ("POST", "/v2/models/{id}/infer"): {
            "inputs": [{"name": "x", "shape": [1, 1], "datatype": "FP32", "data": [0.1]}]
        },
    }
    tried = 0
    with server.client("eve") as eve, server.client("ada") as ada:
        asked = ada.post("/batches", json={"predictor": ids["predictors"], "dataset_id": ids["datasets"]})
        assert asked.status_code == 202, asked.text
        ids["batches"] = asked.json()["id"]
        for method, path in routes(server):
            if "{id}" not in path:
                continue
            kind = path.split("/")[1]
            real = path.replace("{id}", ids[kind]).replace("{name}", FIGURES.get(kind, ""))
            answer = eve.request(method, real, json=bodies.get((method, path)))
            assert answer.status_code == 404, (method, path, answer.text)
            assert ids[kind] in answer.json()["detail"]
            # No stream has an end, the predictor has one level, and no worker has written the batch.
            endless, lacking = "events" in path, path.endswith("/levels") or path == "/batches/{id}/file"
            if method == "GET" and not endless and not lacking:
                assert ada.get(real).status_code == 200, path
            tried += 1
        assert tried >= 24
        for path in ("/datasets", "/models", "/calibrations", "/predictors", "/certificates", "/batches"):
            seen, own = ({one["id"] for one in who.get(path).json()["items"]} for who in (eve, ada))
            assert own
            assert not seen & own
        body = {"dataset_id": ids["datasets"], "model_id": ids["models"]}
        assert eve.post("/calibrations", json=body).status_code == 404
        x = {"predictor": ids["predictors"], "x": "0.1"}
        assert eve.get("/predict_set", params=x).status_code == 404
        prediction = ada.get("/predict_set", params=x).json()["prediction_id"]
        assert eve.post("/outcomes", json={"prediction_id": prediction, "y": 0.0}).status_code == 422
        assert ada.post("/outcomes", json={"prediction_id": prediction, "y": 0.0}).status_code == 200
        assert eve.patch(f"/outcomes/{prediction}", json={"y": 1.0}).status_code in (404, 422)
        assert eve.delete(f"/outcomes/{prediction}").status_code in (404, 422)


def test_another_tenants_deployment_is_not_there(server: Server) -> None:
    predictor, path = server.id("regression"), "/deployments/adas-own"
    with server.client("eve") as eve, server.client("ada") as ada:
        made = ada.put(path, json={"predictor": predictor})
        assert made.status_code in (200, 201), made.text
        try:
            assert eve.put(path, json={"predictor": predictor}).status_code == 404
            for method, end in (
                ("GET", ""),
                ("GET", "/history"),
                ("GET", "/events"),
                ("POST", "/rollback"),
                ("DELETE", ""),
            ):
                answer = eve.request(method, f"{path}{end}")
                assert answer.status_code == 404, (method, end, answer.text)
            assert eve.get("/predict_set", params={"predictor": "adas-own", "x": "0.1"}).status_code == 404
            assert ada.get(path).status_code == 200
        finally:
            assert ada.delete(path).status_code == 204


def test_keys_are_stored_only_as_hmacs(server: Server) -> None:
    content = (server.settings.home / "certiset.db").read_bytes()
    content += b"".join(file.read_bytes() for file in server.settings.home.glob("certiset.db-*"))
    for key in server.keys.values():
        assert key.encode() not in content


def test_neither_keys_nor_data_are_logged(server: Server) -> None:
    with server.client() as ada:
        ada.get("/predict_set", params={"predictor": server.id("regression"), "x": "0.123456789"})
        ada.get("/predict_set", params={"predictor": server.id("regression"), "x": "nonsense-31415"})
    log = (server.settings.home / "api.log").read_text()
    assert '"route": "/predict_set"' in log
    for secret in (*server.keys.values(), "0.123456789", "nonsense-31415"):
        assert secret not in log


def test_request_ids_are_kept_if_they_are_harmless(server: Server) -> None:
    with server.client() as ada:
        assert ada.get("/predictors", headers={"X-Request-ID": "abc-1"}).headers["x-request-id"] == "abc-1"
        made = ada.get("/predictors", headers={"X-Request-ID": "a b\tc"}).headers["x-request-id"]
        assert made != "a b\tc"


def test_a_bucket_refills_steadily(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    limit = RateLimit(per_minute=120)
    assert [limit.wait("k") for _ in range(3)] == [0.0, 0.0, 0.5]
    assert limit.wait("other") == 0.0
    now[0] += 0.5
    assert limit.wait("k") == 0.0
    assert limit.wait("k") > 0
    assert RateLimit(0).wait("k") == 0.0


def test_keys_are_made_listed_and_revoked(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path)]
    assert main(["keys", "create", "--name", "one", "--scopes", "read", *home]) == 0
    key = capsys.readouterr().out.strip()
    assert key.startswith("cs_")
    assert main(["keys", "list", *home]) == 0
    listed = capsys.readouterr().out
    assert key not in listed
    assert "read" in listed
    assert main(["keys", "revoke", listed.split()[0], *home]) == 0
    assert main(["keys", "revoke", listed.split()[0], *home]) == 2
    assert main(["keys", "create", "--scopes", "everything", *home]) == 2
    assert "not 'everything'" in capsys.readouterr().err


def test_the_first_key_is_made_once(tmp_path: object) -> None:
    from pathlib import Path  # noqa: PLC0415

    from certiset.service.http.access.first_key import make_first_key  # noqa: PLC0415

    settings = Settings(home=Path(str(tmp_path)))
    store = Store.ready(settings)
    key = make_first_key(settings, store)
    file = settings.home / "key"
    assert file.read_text().strip() == key
    assert file.stat().st_mode & 0o777 == 0o600
    assert make_first_key(settings, store) is None
    store.close()
