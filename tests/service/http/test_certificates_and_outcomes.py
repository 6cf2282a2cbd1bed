"""Certificates stay as they were issued; outcomes count once, and speak against a certificate when they must."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np

from certiset.core.certificate import Certificate
from certiset.service.cli.main import main
from tests.core.fit.problems import toy_data
from tests.service.server import Server


def test_a_certificate_is_immutable_signed_and_verified(server: Server, ada: httpx.Client, tmp_path: Path) -> None:
    certificate = server.predictors["regression"].certificate
    answer = ada.get(f"/certificates/{certificate.id}")
    assert answer.headers["etag"] == f'"{certificate.digest}"'
    assert answer.headers["certificate-status"] == "consistent"
    again = ada.get(f"/certificates/{certificate.id}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert ada.get(f"/certificates/{certificate.id}", headers={"If-None-Match": '"other"'}).status_code == 200
    issued = Certificate.from_json(answer.json())
    assert issued.digest == certificate.digest
    key = ada.get("/certificates/key").json()
    assert key["algorithm"] == "ed25519"
    assert issued.verify(key["public_key"]).valid
    assert not issued.verify("A" * 43 + "=").valid
    checked = ada.get(f"/certificates/{certificate.id}/verify").json()
    assert checked["valid"]
    assert checked["checks"][-1]["name"] == "signature"
    file = tmp_path / "certificate.json"
    file.write_bytes(answer.content)
    assert main(["verify", str(file), "--key", key["public_key"]]) == 0
    forged = json.loads(answer.content)
    forged["provenance"]["seed"] += 1
    forged["id"] = Certificate.from_json(forged).digest_id
    file.write_text(json.dumps(forged))
    assert main(["verify", str(file)]) == 1


def test_certificates_are_listed_and_filtered(server: Server, ada: httpx.Client) -> None:
    every = ada.get("/certificates").json()["items"]
    assert len(every) == 5
    pool = server.predictors["mean"].certificate
    calibration = server.calibrations["mean"]
    for query in (
        {"predictor": pool.predictor_id},
        {"dataset": calibration.dataset_id},
        {"bound": pool.coverage.bound},
    ):
        assert [found["id"] for found in ada.get("/certificates", params=query).json()["items"]] == [pool.id]
    of_model = ada.get("/certificates", params={"model": calibration.model_id}).json()["items"]
    assert {found["id"] for found in of_model} == {pool.id, server.predictors["pool"].certificate.id}
    assert len(ada.get("/certificates", params={"alpha": 0.1}).json()["items"]) == 5
    assert ada.get("/certificates", params={"alpha": 0.2}).json()["items"] == []
    page = ada.get("/certificates", params={"limit": 3}).json()
    rest = ada.get("/certificates", params={"limit": 3, "cursor": page["next_cursor"]}).json()
    assert [c["id"] for c in page["items"] + rest["items"]] == [c["id"] for c in every]
    assert ada.get("/certificates", params={"limit": 0}).status_code == 422


def predictions(client: httpx.Client, id: str, x: np.ndarray) -> list[str]:
    rows = client.post("/predict_set", json={"predictor": id, "x": x.tolist()}).json()["predictions"]
    return [row["prediction_id"] for row in rows]


def test_outcomes_count_once_and_forged_ones_never(server: Server, ada: httpx.Client) -> None:
    id = server.id("regression")
    before = ada.get(f"/predictors/{id}/monitor").json()["outcomes"]
    x, y = toy_data(40, 5)
    given = [{"prediction_id": p, "y": float(v)} for p, v in zip(predictions(ada, id, x), y[:, 0], strict=True)]
    assert ada.post("/outcomes", json={"outcomes": given}).json()["counted"] == 40
    again = ada.post("/outcomes", json={"outcomes": [*given[:5], *given[:5]]}).json()
    assert (again["counted"], again["repeated"]) == (0, 10)
    replay = ada.get("/predict_set", params={"predictor": id, "x": "0.1", "member": 0}).json()["prediction_id"]
    replayed = ada.post("/outcomes", json={"prediction_id": replay, "y": 99.0}).json()
    assert replayed == {"counted": 0, "repeated": 0, "replayed": 1, "covered": [False]}
    for wrong in (True, "1", None):
        assert ada.post("/outcomes", json={"prediction_id": given[0]["prediction_id"], "y": wrong}).status_code == 422
    one = predictions(ada, id, x[:1])[0]
    flipped = ("A" if one[30] != "A" else "B").join((one[:30], one[31:]))
    for forged in (flipped, "abc", "A" * len(one)):
        answer = ada.post("/outcomes", json={"outcomes": [given[0], {"prediction_id": forged, "y": 0.0}]})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["where"] == "outcomes.1.prediction_id"
    assert ada.post("/outcomes", json={"prediction_id": one, "y": [1.0, 2.0]}).status_code == 422
    with ThreadPoolExecutor(8) as pool:
        same = list(pool.map(lambda _: ada.post("/outcomes", json={"prediction_id": one, "y": 0.0}).json(), range(16)))
    assert sum(answer["counted"] for answer in same) == 1
    monitor = ada.get(f"/predictors/{id}/monitor").json()
    assert monitor["outcomes"] == before + 41
    assert monitor["interval"][0] <= monitor["miscoverage"] <= monitor["interval"][1]
    assert monitor["path"][-1]["outcomes"] == monitor["outcomes"]


def test_labels_that_do_not_exist_are_refused(server: Server, ada: httpx.Client) -> None:
    one = predictions(ada, server.id("classification"), np.zeros((1, 2)))[0]
    for y in (3, -1, 0.5):
        answer = ada.post("/outcomes", json={"prediction_id": one, "y": y})
        assert answer.status_code == 422
        assert "labels must be whole numbers from 0 to 2" in answer.json()["detail"]


def test_a_contradicted_certificate_says_so_everywhere(server: Server, ada: httpx.Client) -> None:
    """The world changes: every outcome is a miss."""
    id = server.id("doomed")
    assert ada.get(f"/predictors/{id}/monitor").json()["status"] == "consistent"
    x = np.tile([5.0, 0.0], (60, 1))
    rows = ada.post("/predict_set", json={"predictor": id, "x": x.tolist()}).json()["predictions"]
    outside = next(label for label in range(3) if label not in rows[0]["set"]["labels"])
    wrong = [{"prediction_id": row["prediction_id"], "y": outside} for row in rows]
    assert ada.post("/outcomes", json={"outcomes": wrong}).json()["covered"] == [False] * 60
    monitor = ada.get(f"/predictors/{id}/monitor").json()
    assert monitor["status"] == "contradicted"
    assert monitor["log_peak"] >= monitor["log_threshold"]
    assert monitor["interval"][0] > 0.1
    asked = {"predictor": id, "x": "5,0"}
    assert ada.get("/predict_set", params=asked).json()["certificate"]["status"] == "contradicted"
    certificate = server.predictors["doomed"].certificate.id
    assert ada.get(f"/certificates/{certificate}").headers["certificate-status"] == "contradicted"
    assert ada.get(f"/certificates/{certificate}/verify").json()["status"] == "contradicted"
    assert ada.get(f"/predictors/{id}").json()["certificate_status"] == "contradicted"
    statuses = {found["id"]: found["certificate_status"] for found in ada.get("/predictors").json()["items"]}
    assert statuses[id] == "contradicted"
    assert statuses[server.id("regression")] == "consistent"
    with server.client("operator") as operator:
        assert "certiset_contradicted_certificates 1.0" in operator.get("/metrics").text
    listed = ada.get("/certificates", params={"validity": "contradicted"}).json()["items"]
    assert [found["predictor_id"] for found in listed] == [id]
    assert id not in [c["predictor_id"] for c in ada.get("/certificates?validity=consistent").json()["items"]]
