"""What a tenant deletes is no longer served, by any replica; what it may have is said and held to."""

import base64
import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.store import Store
from certiset.service.cli.main import main
from certiset.service.client import ApiError, Client
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.secret import derive, read_secret
from tests.core.store.records import a_calibration
from tests.servers import wait_until
from tests.service.server import Server, enter_predictor, replica_of


class Fay:
    """A tenant of her own, with a predictor of her own."""

    def __init__(self, server: Server) -> None:
        self.server, self.store = server, Store(server.settings)
        ring = KeyRing(self.store, derive(read_secret(server.settings.secret), "api keys"))
        self.key = ring.create(tenant="fay", name="fay", scopes=["read", "write"])[1]
        self.calibration = enter_predictor(self.store, server.predictors["regression"], "fay")
        self.predictor = server.id("regression")
        self.certificate = server.predictors["regression"].certificate.id

    def client(self, url: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=url or self.server.url, headers=headers, timeout=60)

    def input(self) -> dict[str, str]:
        shape = self.server.predictors["regression"].scorer.model.manifest.input_shape
        return {"predictor": self.predictor, "x": ",".join(["0.1"] * int(np.prod(shape)))}


@pytest.fixture(name="fay")
def fay_(server: Server) -> Iterator[Fay]:
    made = Fay(server)
    yield made
    made.store.close()


def upload(client: httpx.Client, rows: int, seed: int = 0) -> httpx.Response:
    file, random = io.BytesIO(), np.random.default_rng(seed)
    np.savez(file, x=random.normal(size=(rows, 2)), y=random.normal(size=rows))
    return client.post("/datasets", files={"file": ("data.npz", file.getvalue())})


def test_a_deleted_predictor_is_served_by_no_replica_and_its_certificate_is_marked(fay: Fay) -> None:
    with replica_of(fay.server) as (_, url), fay.client() as here, fay.client(url) as there:
        served = here.get("/predict_set", params=fay.input())
        assert served.status_code == 200, served.text
        assert there.get("/predict_set", params=fay.input()).status_code == 200
        before = here.get(f"/certificates/{fay.certificate}")
        assert before.headers["Certificate-Status"] == "consistent"
        assert here.delete(f"/predictors/{fay.predictor}").status_code == 204
        gone = here.get("/predict_set", params=fay.input())
        assert (gone.status_code, gone.json()["code"]) == (404, "withdrawn")
        assert "was deleted and is no longer served" in gone.json()["detail"]
        wait_until(lambda: there.get("/predict_set", params=fay.input()).status_code == 404, 20, "the other replica")
        assert here.get(f"/predictors/{fay.predictor}").status_code == 404
        assert here.get("/predictors").json()["items"] == []
        assert here.delete(f"/predictors/{fay.predictor}").status_code == 404
        after = here.get(f"/certificates/{fay.certificate}")
        assert (after.content, after.headers["ETag"]) == (before.content, before.headers["ETag"])
        assert after.headers["Certificate-Status"] == "withdrawn"
        verified = here.get(f"/certificates/{fay.certificate}/verify").json()
        assert (verified["valid"], verified["status"]) == (True, "withdrawn")
        word = json.loads(base64.b64decode(here.get(f"/certificates/{fay.certificate}/status").json()["payload"]))
        assert word["predicate"]["status"] == "withdrawn"
        assert here.get(f"/certificates/{fay.certificate}/attestation").status_code == 200
        file = here.get(f"/predictors/{fay.predictor}/file")
        assert (file.status_code, file.json()["code"]) == (404, "withdrawn")
        for validity, found in (("withdrawn", [fay.certificate]), ("consistent", [])):
            listed = here.get("/certificates", params={"validity": validity}).json()["items"]
            assert [document["id"] for document in listed] == found
        outcome = here.post("/outcomes", json={"prediction_id": served.json()["prediction_id"], "y": 0.0})
        assert (outcome.status_code, outcome.json()["code"]) == (404, "withdrawn")
    with fay.server.client() as ada:
        assert ada.get("/predict_set", params=fay.input()).status_code == 200, "the same predictor of another tenant"


def test_a_deleted_model_leaves_its_predictor_working(fay: Fay) -> None:
    with fay.client() as client:
        assert client.delete(f"/models/{fay.calibration.model_id}").status_code == 204
        assert client.get(f"/models/{fay.calibration.model_id}").status_code == 404
        assert client.get("/predict_set", params=fay.input()).status_code == 200
        assert client.delete(f"/calibrations/{fay.calibration.id}").status_code == 204
        assert client.get(f"/calibrations/{fay.calibration.id}").status_code == 404
        assert client.get(f"/predictors/{fay.predictor}").status_code == 200


def test_what_an_unfinished_calibration_needs_is_not_deleted(fay: Fay) -> None:
    waiting = a_calibration(fay.store, "fay")
    with fay.client() as client:
        for path in (
            f"/models/{waiting.model_id}",
            f"/datasets/{waiting.dataset_id}",
            f"/calibrations/{waiting.id}",
        ):
            refused = client.delete(path)
            assert (refused.status_code, refused.json()["code"]) == (409, "conflict"), path
            assert "cancel it first" in refused.json()["detail"]
        assert client.post(f"/calibrations/{waiting.id}/cancel").status_code == 202
        assert client.delete(f"/calibrations/{waiting.id}").status_code == 204
        assert client.delete(f"/models/{waiting.model_id}").status_code == 204


@pytest.mark.parametrize("kind", ["models", "predictors", "calibrations"])
def test_deleting_needs_write_and_finds_only_ones_own(server: Server, kind: str) -> None:
    ids: dict[str, Any] = {
        "models": server.calibrations["pool"].model_id,
        "predictors": server.id("pool"),
        "calibrations": server.calibrations["pool"].id,
    }
    path = f"/{kind}/{ids[kind]}"
    with server.client("reader") as reader, server.client("eve") as eve, server.client(None) as nobody:
        assert (reader.delete(path).status_code, eve.delete(path).status_code) == (403, 404)
        assert nobody.delete(path).status_code == 401
        assert reader.get(path).status_code == 200


def test_usage_and_refusals(fay: Fay) -> None:
    with fay.client() as client:
        usage = client.get("/usage").json()
        assert usage["tenant"] == "fay"
        assert usage["predictors"] >= 0
        assert usage["bytes"] > 0
        assert usage["rows"] >= 50
        assert usage["limits"]["bytes"] == fay.server.settings.quota_bytes
        assert usage["limits"]["running_jobs"] is None
        with fay.store.writing() as work:
            work.tenants.set_quotas("fay", {"rows": usage["rows"] + 10})
        refused = upload(client, 11)
        assert (refused.status_code, refused.json()["code"]) == (429, "quota_exceeded")
        assert f"{usage['rows']} of {usage['rows'] + 10} rows are in use" in refused.json()["detail"]
        assert "delete data sets that are no longer needed" in refused.json()["detail"]
        larger = upload(client, 5000)
        assert (larger.status_code, larger.json()["code"]) == (413, "larger_than_quota")
        accepted = upload(client, 10)
        assert accepted.status_code == 201
        assert client.get("/usage").json()["rows"] == usage["rows"] + 10
        assert client.delete(f"/datasets/{accepted.json()['id']}").status_code == 204
        assert client.get("/usage").json()["rows"] == usage["rows"]
        with fay.store.writing() as work:
            work.tenants.set_quotas("fay", {"rows": None})


def test_the_client_and_the_command_line(fay: Fay, capsys: pytest.CaptureFixture[str]) -> None:
    server = ["--url", fay.server.url, "--key", fay.key]
    with Client(fay.server.url, fay.key) as client:
        assert client.usage().tenant == "fay"
        assert [found.id for found in client.predictors.list()] == [fay.predictor]
        assert main(["usage", *server]) == 0
        assert "of  no limit" in capsys.readouterr().out
        assert main(["predictors", "list", *server]) == 0
        assert fay.predictor in capsys.readouterr().out
        assert main(["predictors", "delete", fay.predictor, *server]) == 0
        assert capsys.readouterr().out == f"{fay.predictor} was deleted.\n"
        assert main(["certificates", "verify", fay.certificate, *server]) == 0
        assert "Its predictor was deleted" in capsys.readouterr().out
        assert main(["calibrations", "delete", fay.calibration.id, *server]) == 0
        assert main(["models", "delete", fay.calibration.model_id, *server]) == 0
        with pytest.raises(ApiError, match="There is no model"):
            client.models.delete(fay.calibration.model_id)
        with pytest.raises(ApiError, match="There is no calibration"):
            client.calibrations.delete(fay.calibration.id)
        with pytest.raises(ApiError, match="was deleted"):
            client.predictors.delete(fay.predictor)


def test_a_full_quota_is_not_asked_again(fay: Fay) -> None:
    with fay.store.writing() as work:
        work.tenants.set_quotas("fay", {"models": 1})
    manifest = {"name": "n", "task": "classification", "classes": 7, "input_shape": [7]}
    with Client(fay.server.url, fay.key) as client:
        if not list(client.models.list()):
            client.models.upload({**manifest, "classes": 5, "input_shape": [5]})
        with pytest.raises(ApiError, match="models are in use") as refusal:
            client.models.upload(manifest)
    assert refusal.value.status == 429
    with fay.store.writing() as work:
        work.tenants.set_quotas("fay", {"models": None})


def test_tenant_commands(server: Server, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(server.settings.home)]
    store = Store(server.settings)
    ring = KeyRing(store, derive(read_secret(server.settings.secret), "api keys"))
    key = ring.create(tenant="gus", name="gus", scopes=["read", "write"])[1]
    enter_predictor(store, server.predictors["classification"], "gus")
    store.close()
    assert main(["tenant", "list", *home]) == 0
    assert "gus" in capsys.readouterr().out
    assert main(["tenant", "quota", "gus", "--bytes", "1000", "--running-jobs", "2", *home]) == 0
    assert "of  1,000" in capsys.readouterr().out
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"}) as client:
        limits = client.get("/usage").json()["limits"]
        assert (limits["bytes"], limits["running_jobs"]) == (1000, 2)
        assert main(["tenant", "quota", "gus", "--bytes", "default", *home]) == 0
        assert client.get("/usage").json()["limits"]["bytes"] == server.settings.quota_bytes
        file = tmp_path / "gus.zip"
        assert main(["tenant", "export", "gus", str(file), *home]) == 0
        assert file.exists()
        capsys.readouterr()
        assert main(["tenant", "erase", "gus", *home]) == 2
        assert "add --yes" in capsys.readouterr().err
        assert main(["tenant", "erase", "gus", "--yes", *home]) == 0
        assert "were removed" in capsys.readouterr().out
        wait_until(lambda: client.get("/usage").status_code == 401, 20, "the key to be forgotten")
    assert main(["tenant", "export", "gus", str(file), *home]) == 2
    assert "There is no tenant gus" in capsys.readouterr().err
