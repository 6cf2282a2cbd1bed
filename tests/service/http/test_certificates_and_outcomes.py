"""Certificates stay as they were issued; outcomes count once, and speak against a certificate when they must."""

import base64
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from certiset.core.certificate import Certificate
from certiset.service.cli.main import main
from tests.core.fit.problems import shifted_logits, toy_data
from tests.servers import wait_until
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
    assert not issued.verify().trusted, "without a key that is named, nothing is trusted"
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
    # What other tests imported, or certified later, may stand beside them.
    own = {predictor.certificate.id for predictor in server.predictors.values()}
    assert own <= {found["id"] for found in every}
    pool = server.predictors["mean"].certificate
    calibration = server.calibrations["mean"]
    for query in (
        {"predictor": pool.predictor_id},
        {"dataset": calibration.dataset_id},
        {"bound": pool.coverage.bound},
    ):
        assert {found["id"] for found in ada.get("/certificates", params=query).json()["items"]} & own == {pool.id}
    of_model = ada.get("/certificates", params={"model": calibration.model_id}).json()["items"]
    assert {found["id"] for found in of_model} & own == {pool.id, server.predictors["pool"].certificate.id}
    assert own <= {found["id"] for found in ada.get("/certificates", params={"alpha": 0.1}).json()["items"]}
    assert ada.get("/certificates", params={"alpha": 0.37}).json()["items"] == []
    page = ada.get("/certificates", params={"limit": 3}).json()
    rest = ada.get("/certificates", params={"limit": 200, "cursor": page["next_cursor"]}).json()
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
    assert replayed == {"counted": 0, "repeated": 0, "replayed": 1, "covered": [False], "collected": 0}
    for wrong in (True, "1", None):
        assert ada.post("/outcomes", json={"prediction_id": given[0]["prediction_id"], "y": wrong}).status_code == 422
    one = predictions(ada, id, x[:1] + 0.001)[0]
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


def test_one_input_that_is_asked_and_reported_again_and_again_counts_once(server: Server, ada: httpx.Client) -> None:
    """Calibration inputs were all distinct, so that the same input again is the same case: no alarm after four."""
    id = server.id("regression")
    before = ada.get(f"/predictors/{id}/monitor").json()
    asked = [ada.get("/predict_set", params={"predictor": id, "x": "0.271828"}).json() for _ in range(6)]
    given = [{"prediction_id": one["prediction_id"], "y": 1e6} for one in asked]
    assert len({one["prediction_id"] for one in given}) == 6
    counted = [ada.post("/outcomes", json=one).json()["counted"] for one in given]
    after = ada.get(f"/predictors/{id}/monitor").json()
    assert counted == [1, 0, 0, 0, 0, 0]
    assert (after["outcomes"], after["misses"]) == (before["outcomes"] + 1, before["misses"] + 1)
    assert (after["reported"], after["status"]) == (before["reported"] + 6, before["status"])


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
    # One input asked and reported again and again is one case, and contradicts nothing by itself.
    same = predictions(ada, id, np.tile([5.0, 0.0], (60, 1)))
    counted = ada.post("/outcomes", json={"outcomes": [{"prediction_id": p, "y": 2} for p in same]}).json()
    assert (counted["counted"], counted["repeated"]) == (1, 59)
    assert ada.get(f"/predictors/{id}/monitor").json()["status"] == "consistent"
    x = np.array([[5.0, 0.001 * row] for row in range(1, 61)])
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
    word = json.loads(base64.b64decode(ada.get(f"/certificates/{certificate}/status").json()["payload"]))["predicate"]
    assert (word["status"], word["contradicted_at"]) == ("contradicted", monitor["contradicted_at"])
    assert (word["outcomes"], word["misses"]) == (monitor["outcomes"], monitor["misses"])
    assert ada.get(f"/predictors/{id}").json()["certificate_status"] == "contradicted"
    statuses = {found["id"]: found["certificate_status"] for found in ada.get("/predictors").json()["items"]}
    assert statuses[id] == "contradicted"
    assert statuses[server.id("regression")] == "consistent"
    with server.client("operator") as operator:
        (counted,) = re.findall(
            r"^certiset_contradicted_certificates (.*)$", operator.get("/metrics").text, re.MULTILINE
        )
    assert float(counted) >= 1
    listed = ada.get("/certificates", params={"validity": "contradicted"}).json()["items"]
    assert id in [found["predictor_id"] for found in listed]
    assert id not in [c["predictor_id"] for c in ada.get("/certificates?validity=consistent").json()["items"]]
    # The truths were wrong, and are corrected or annulled one by one; the verdict is reconsidered.
    inside = rows[0]["set"]["labels"][0]
    for place, row in enumerate(rows):
        path = f"/outcomes/{row['prediction_id']}"
        answer = ada.patch(path, json={"y": inside}) if place % 2 else ada.delete(path)
        assert answer.status_code == (200 if place % 2 else 204), answer.text
    assert answer.json() == {"predictor_id": id, "covered": True, "state": "counted"}
    monitor = ada.get(f"/predictors/{id}/monitor").json()
    assert (monitor["status"], monitor["outcomes"], monitor["contradicted_by"]) == ("consistent", 31, [])
    assert ada.get("/predict_set", params=asked).json()["certificate"]["status"] == "consistent"
    wait_until(lambda: ada.get(f"/predictors/{id}/monitor").json()["issued"] >= 120, 20, "the count of issued sets")
    with server.client("reader") as reader:
        assert reader.patch(f"/outcomes/{same[0]}", json={"y": 0}).status_code == 403
    with server.client("eve") as eve:
        assert eve.delete(f"/outcomes/{same[0]}").status_code == 422
    assert ada.patch("/outcomes/abc", json={"y": 0}).status_code == 422
    fresh = predictions(ada, id, x[:1])[0]
    assert ada.patch(f"/outcomes/{fresh}", json={"y": 0}).status_code == 404
    audited = ada.get("/audit", params={"action": "outcome.annul"}).json()["items"]
    assert {entry["details"]["was"] for entry in audited if entry["result"] == "ok"} == {"missed"}


def test_a_case_has_one_member_and_counts_once(server: Server, ada: httpx.Client) -> None:
    id = server.id("pool")
    x = shifted_logits(3, 5)[0]
    row = ",".join(map(repr, x[0].tolist()))

    def ask(case: str) -> dict[str, Any]:
        asked = {"predictor": id, "x": row, "case": case}
        found: dict[str, Any] = ada.get("/predict_set", params=asked).json()
        return found

    members = {case: {ask(case)["member"] for _ in range(3)} for case in ("Ada & Co", "b", "c", "d", "e", "f")}
    assert all(len(found) == 1 for found in members.values())
    assert len({min(found) for found in members.values()}) > 1
    body = {"predictor": id, "x": x.tolist(), "cases": ["Ada & Co", "b", "b"]}
    many = ada.post("/predict_set", json=body).json()["predictions"]
    assert [one["member"] for one in many] == [min(members[case]) for case in ("Ada & Co", "b", "b")]
    tensor = {"name": "x", "shape": list(x.shape), "datatype": "FP32", "data": x.tolist()}
    infer = {"inputs": [tensor], "parameters": {"cases": "b"}}
    outputs = ada.post(f"/v2/models/{id}/infer", json=infer).json()["outputs"]
    ids = next(output["data"] for output in outputs if output["name"] == "prediction_id")
    given = [{"prediction_id": p, "y": 0} for p in [*(one["prediction_id"] for one in many), *ids]]
    counted = ada.post("/outcomes", json={"outcomes": given}).json()
    assert (counted["counted"], counted["repeated"]) == (2, 4)
    for wrong in ({"cases": ["a"]}, {"cases": ""}, {"cases": 7}, {"case": "a"}):
        assert ada.post("/predict_set", json={"predictor": id, "x": x.tolist(), **wrong}).status_code == 422
    for text in ("", "a" * 201):
        assert ada.get("/predict_set", params={"predictor": id, "x": row, "case": text}).status_code == 422
    wrong_parameter = {"inputs": [tensor], "parameters": {"cases": [1, 2, 3]}}
    refused = ada.post(f"/v2/models/{id}/infer", json=wrong_parameter)
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "parameters.cases")


def test_outcomes_beyond_what_the_event_loop_parses_are_read_and_refused_like_few(
    server: Server, ada: httpx.Client
) -> None:
    asked = {"predictor": server.id("regression"), "x": toy_data(900, 3)[0].tolist(), "member": 0}
    served = ada.post("/predict_set", json=asked).json()["predictions"]
    outcomes = [{"prediction_id": row["prediction_id"], "y": 0.0} for row in served]
    assert len(json.dumps(outcomes)) > 2**16
    wrong = ada.post("/outcomes", json={"outcomes": [*outcomes[:-1], {**outcomes[-1], "y": "one"}]})
    assert wrong.status_code == 422
    assert any(error["where"].startswith("outcomes.899.y") for error in wrong.json()["errors"])
    counted = ada.post("/outcomes", json={"outcomes": outcomes})
    assert counted.status_code == 200, counted.text
    assert len(counted.json()["covered"]) == 900
    broken = ada.post("/outcomes", content=b'{"outcomes": [' + b" " * 2**16)
    assert (broken.status_code, broken.json()["errors"][0]["where"]) == (422, "body")
