"""A deployment that version 0.1.0 wrote goes on under this version: nothing is converted by hand, nothing is lost.

Database, artifacts, keys and certificates in `deployment_0_1_0` are as that version left them, with jobs that were
queued or running when it stopped. API and worker of this version are started on a copy.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from certiset import Certificate, load
from certiset.core.fit.options import FitOptions
from tests.servers import free_port, wait_until
from tests.service.server import processes_of

WRITTEN = Path(__file__).parent / "deployment_0_1_0"
EXPECTED: dict[str, Any] = json.loads((WRITTEN / "expected.json").read_text())
FAST = {"sweep_seconds": 0.2, "message_seconds": 0.5, "lease_seconds": 5, "rate_limit": 0}
PREDICTORS = pytest.mark.parametrize("name", EXPECTED["predictors"])


@dataclass(frozen=True)
class Upgraded:
    url: str
    home: Path

    def client(self, tenant: str = "default") -> httpx.Client:
        headers = {"Authorization": f"Bearer {EXPECTED['keys'][tenant]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)


def restore(home: Path) -> None:
    home.mkdir()
    with sqlite3.connect(home / "certiset.db") as database:
        database.executescript((WRITTEN / "certiset.sql").read_text())
    database.close()
    shutil.copytree(WRITTEN / "artifacts", home / "artifacts")
    for name in ("secret", "signing.pem", "key"):
        shutil.copy(WRITTEN / name, home / name)
        (home / name).chmod(0o600)


@pytest.fixture(scope="module", name="upgraded")
def upgraded_(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgraded]:
    home, port = tmp_path_factory.mktemp("upgrade") / "home", free_port()
    restore(home)
    with processes_of(home, port, **FAST):
        yield Upgraded(f"http://127.0.0.1:{port}", home)


def same_set(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Labels exactly; ends up to the rounding of another machine."""
    return found.keys() == expected.keys() and all(
        found[name]
        == (value if name in ("kind", "labels") or value is None else pytest.approx(value, rel=1e-5, abs=1e-5))
        for name, value in expected.items()
    )


def test_jobs_that_were_unfinished_keep_their_options_and_finish(upgraded: Upgraded) -> None:
    with upgraded.client() as client:
        running = EXPECTED["calibrations"]["running"]
        assert client.post(f"/calibrations/{running}/cancel").status_code == 202
        for name, id in EXPECTED["calibrations"]["queued"].items():
            wait_until(lambda id=id: client.get(f"/calibrations/{id}").json()["status"] == "succeeded", 60, name)  # type: ignore[misc]
            state, meant = client.get(f"/calibrations/{id}").json(), EXPECTED["finishes_as"][name]
            assert FitOptions.read(state["options"]).to_json() == state["options"], "all options are stored"
            assert state["options"]["alpha"] == meant["alpha"]
            # What pac_bayes did, unless a posterior was asked for by its guarantee; all of delta is spent on its rank.
            certificate = client.get(f"/certificates/{state['certificate_id']}").json()
            assert state["options"]["method"] == certificate["provenance"]["method"] == "learned"
            assert state["options"]["size_bound"] == certificate["efficiency"]["bound"] == "grid_kl"
            found = {
                **certificate["coverage"],
                **certificate["provenance"],
                "gamma": certificate["efficiency"]["gamma"],
            }
            for field in ("alpha", "delta", "guarantee", "bound", "n", "gamma", "n_tune", "seed", "score"):
                assert found[field] == meant[field], field
            assert found["k"] >= meant["k"]
        wait_until(lambda: client.get(f"/calibrations/{running}").json()["status"] == "cancelled", 30, "cancelling")


def test_every_record_is_found(upgraded: Upgraded) -> None:
    for tenant in ("default", "ada"):
        with upgraded.client(tenant) as client:
            for kind in ("datasets", "models"):
                for id in EXPECTED[kind][tenant].values():
                    assert client.get(f"/{kind}/{id}").status_code == 200, (kind, id)
    with upgraded.client("ada") as client:
        assert client.get(f"/datasets/{EXPECTED['datasets']['default']['toy']}").status_code == 404
    revoked = {"Authorization": f"Bearer {EXPECTED['revoked_key']}"}
    assert httpx.get(f"{upgraded.url}/datasets", headers=revoked).status_code == 401
    with upgraded.client() as client:
        failed = client.get(f"/calibrations/{EXPECTED['calibrations']['failed']}").json()
        assert (failed["status"], failed["error"]) == ("failed", EXPECTED["failed_error"])
        for id in EXPECTED["calibrations"]["succeeded"].values():
            assert client.get(f"/calibrations/{id}").json()["status"] == "succeeded"


@PREDICTORS
def test_predictors_give_the_sets_that_they_gave(upgraded: Upgraded, name: str) -> None:
    meant = EXPECTED["predictors"][name]
    with upgraded.client() as client:
        about = client.get(f"/predictors/{meant['id']}").json()
        for field in ("task", "score", "members", "serve", "certificate_id", "calibration_id"):
            assert about[field] == meant[field], field
        for member, sets in meant["sets"].items():
            for x, expected in zip(meant["x"], sets, strict=True):
                asked = {"predictor": meant["id"], "x": ",".join(map(str, x)), "member": member}
                answer = client.get("/predict_set", params=asked)
                assert answer.status_code == 200, answer.text
                assert same_set(answer.json()["set"], expected), (x, member)


def test_certificates_are_what_was_issued_and_still_hold(upgraded: Upgraded) -> None:
    with upgraded.client() as client:
        assert client.get("/certificates/key").json()["public_key"] == EXPECTED["public_key"]
        for file in sorted((WRITTEN / "certificates").glob("*.json")):
            assert client.get(f"/certificates/{file.stem}").content == file.read_bytes()
            assert client.get(f"/certificates/{file.stem}/verify").json()["valid"]
            assert Certificate.from_json(file.read_text()).verify(EXPECTED["public_key"]).valid


def test_predictions_that_were_issued_can_be_reported(upgraded: Upgraded) -> None:
    with upgraded.client() as client:
        for prediction in EXPECTED["predictions"]:
            outcome = {"prediction_id": prediction["prediction_id"], "y": prediction["y"]}
            answer = client.post("/outcomes", json=outcome)
            assert answer.status_code == 200, answer.text
            assert answer.json()["covered"] == [prediction["covered"]]
            assert answer.json()["counted"] == (0 if prediction.get("replayed") else 1)


@pytest.mark.parametrize("name", EXPECTED["monitors"])
def test_monitors_go_on_where_they_were(upgraded: Upgraded, name: str) -> None:
    meant = EXPECTED["monitors"][name]
    with upgraded.client() as client:
        found = client.get(f"/predictors/{meant['predictor_id']}/monitor").json()
    assert found["status"] == meant["status"]
    assert found["promised_miscoverage"] == meant["promised_miscoverage"]
    assert found["outcomes"] >= meant["outcomes"]
    assert found["misses"] >= meant["misses"]
    assert found["contradicted_at"] == meant["contradicted_at"]


@pytest.mark.parametrize("name", EXPECTED["requests"])
def test_a_request_that_is_repeated_is_recognised(upgraded: Upgraded, name: str) -> None:
    request = EXPECTED["requests"][name]
    headers = {"Idempotency-Key": request["idempotency_key"]}
    with upgraded.client() as client:
        again = client.post("/calibrations", json=request["body"], headers=headers)
        assert (again.status_code, again.json()["id"]) == (202, request["calibration_id"])
        other = client.post("/calibrations", json={**request["body"], "seed": 99}, headers=headers)
        assert (other.status_code, other.json()["code"]) == (409, "conflict")


def test_a_saved_predictor_loads_and_gives_the_same_sets() -> None:
    meant = EXPECTED["saved_predictor"]
    predictor = load(WRITTEN / "saved_predictor")
    assert predictor.certificate.predictor_id == meant["predictor_id"]
    assert predictor.certificate.verify().valid
    for member, sets in meant["sets"].items():
        found = predictor.predict_set(meant["x"], member=int(member)).to_json()
        assert all(same_set(one, expected) for one, expected in zip(found, sets, strict=True))
