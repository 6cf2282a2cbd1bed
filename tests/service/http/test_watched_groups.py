"""What the service says of groups afterwards: outcomes, monitors, sizes and figures, group by group."""

import httpx
import numpy as np
import pytest

import certiset
from certiset.core.fit import Predictor, fit
from certiset.core.models import Model
from certiset.core.store import Store
from certiset.service.client import Client
from certiset.service.http.access.secret import derive, read_secret
from certiset.service.serving.prediction_ids import PredictionIds
from tests.service.bodies import npz
from tests.service.http.group_rows import CLASSES, ROWS, crossed_groups, ids, rows
from tests.service.server import Server, enter_predictor


def test_outcomes_of_a_deployment_by_groups_calibrate_the_groups_that_were_asked_for(
    server: Server, gina_key: str, gina: httpx.Client, grouped: dict[str, Predictor]
) -> None:
    store = Store(server.settings)
    with store.writing() as work:
        # As a calibration over HTTP would have stored them.
        record = work.predictors.get("gina", ids(grouped, "crossed"))
        work.calibrations.get("gina", record.calibration_id).options = {
            "groups": ["region", "year"],
            "method": "standard",
        }
    body = {"predictor": ids(grouped, "crossed"), "recalibrate": {"every": {"rows": 500}}}
    answer = gina.put("/deployments/by-region", json=body)
    assert answer.status_code == 201, answer.text
    x, y, region, year = rows(40, 12)
    year[:5] = 7
    with Client(server.url, gina_key) as client:
        asked = client.predict_set("by-region", x, groups=crossed_groups(region, year))
        pairs = zip(asked, y, x, strict=True)
        assert client.outcomes.report((one.prediction_id, truth, row) for one, truth, row in pairs).collected == 40
    with store.reading() as work:
        token = work.deployments.get("gina", "by-region").token
        kept = [row for row in work.blocks.outdated_rows(2e9) if row.token == token]
    found = [row.group_name for row in sorted(kept, key=lambda row: row.number)]
    assert found == [None if number == 7 else [name, str(number)] for name, number in zip(region, year, strict=True)]
    refused = gina.put("/deployments/by-region", json={"predictor": ids(grouped, "class")})
    assert refused.status_code == 409
    assert "name groups" in refused.json()["detail"]
    store.close()
    assert gina.delete("/deployments/by-region").status_code == 204


def test_ids_carry_set_and_group_and_outcomes_are_watched_by_group(
    server: Server, gina: httpx.Client, grouped: dict[str, Predictor]
) -> None:
    x, y, region, _ = rows(60, 8)
    id = ids(grouped)
    served = gina.post("/predict_set", json={"predictor": id, "x": x.tolist(), "groups": region.tolist()}).json()
    reader = PredictionIds(derive(read_secret(server.settings.secret), "prediction ids"))
    for row, one in enumerate(served["predictions"]):
        said = reader.read("gina", one["prediction_id"])
        assert said is not None
        assert said.set[0] == one["set"]
        assert said.group == ["north", "rare", "south"].index(region[row])
    outcomes = [
        {"prediction_id": one["prediction_id"], "y": int(t)} for one, t in zip(served["predictions"], y, strict=True)
    ]
    assert gina.post("/outcomes", json={"outcomes": outcomes}).json()["counted"] == 60
    monitor = gina.get(f"/predictors/{id}/monitor").json()
    assert monitor["outcomes"] == 60
    found = {one["name"][0]: (one["outcomes"], one["misses"]) for one in monitor["groups"]}
    missed = ~grouped["region"].predict_set(x, groups=region).contains(y)
    assert found == {
        name: (int(np.sum(region == name)), int(missed[region == name].sum())) for name in ("north", "south")
    }
    assert monitor["eta_coverage"] + 2 * monitor["eta_group"] == pytest.approx(monitor["eta"])


def test_a_group_that_is_missed_too_often_contradicts_the_certificate(
    gina: httpx.Client, grouped: dict[str, Predictor]
) -> None:
    """Of classes it is the truth that says the group; a correction moves it."""
    id = ids(grouped, "class")
    sure = [[9.0 + place / 100, 0.0, 0.0] for place in range(40)]
    served = gina.post("/predict_set", json={"predictor": id, "x": sure}).json()["predictions"]
    outcomes = [
        {"prediction_id": one["prediction_id"], "y": 0 if place < 20 else 2} for place, one in enumerate(served)
    ]
    assert gina.post("/outcomes", json={"outcomes": outcomes}).status_code == 200
    monitor = gina.get(f"/predictors/{id}/monitor").json()
    assert [(one["outcomes"], one["misses"], one["contradicted"]) for one in monitor["groups"]] == [
        (20, 0, False),
        (0, 0, False),
        (20, 20, True),
    ]
    assert monitor["status"] == "contradicted"
    assert "groups" in monitor["contradicted_by"]
    for place, one in enumerate(served[20:], 1):
        changed = gina.patch(f"/outcomes/{one['prediction_id']}", json={"y": 0})
        assert changed.status_code == 200, changed.text
        monitor = gina.get(f"/predictors/{id}/monitor").json()
        assert [group["outcomes"] for group in monitor["groups"]] == [20 + place, 0, 20 - place]
    assert monitor["status"] != "contradicted"
    assert not any(group["contradicted"] for group in monitor["groups"])


def test_fresh_inputs_certify_the_size_of_every_group(gina: httpx.Client, grouped: dict[str, Predictor]) -> None:
    x, _, region, _ = rows(700, 9)
    file = npz(x=x, region=region, column_names=np.array(["a", "b", "c"]))
    dataset = gina.post("/datasets", files={"file": ("fresh.npz", file)}, data={"target": ""}).json()["id"]
    answer = gina.post(f"/predictors/{ids(grouped)}/sizes", json={"dataset_id": dataset})
    assert answer.status_code == 202, answer.text
    statement = answer.json()
    assert certiset.verify(statement).holds
    assert [group["name"] for group in statement["sizes"]["groups"]] == [["north"], ["south"]]
    assert statement["sizes"]["without"] == int(np.sum(region == "rare"))
    for group in statement["sizes"]["groups"]:
        own = region == group["name"][0]
        size = grouped["region"].predict_set(x[own], groups=region[own]).size.mean()
        assert group["empirical"] == pytest.approx(size)
        assert size < group["upper_bound"] < size + 0.4


def test_figures_show_every_group(gina: httpx.Client, grouped: dict[str, Predictor]) -> None:
    certificate = grouped["region"].certificate
    for name in ("group_coverage", "group_sizes", "budget", "members"):
        answer = gina.get(f"/certificates/{certificate.id}/figures/{name}")
        assert answer.headers["content-type"] == "image/svg+xml", answer.text
        assert (">north<" in answer.text) == name.startswith("group")
    assert ">south<" in gina.get(f"/predictors/{ids(grouped)}/figures/group_outcomes").text
    assert gina.get(f"/predictors/{ids(grouped)}/figures/sizes").status_code == 409
    assert gina.get(f"/predictors/{ids(grouped, 'class')}/figures/sizes").status_code == 200


def test_figures_and_monitors_call_classes_by_their_names(server: Server, gina: httpx.Client) -> None:
    x, y, _, _ = rows(ROWS, 0)
    described = {"name": "logits", "task": "classification", "classes": CLASSES, "input_shape": [CLASSES]}
    named = Model.from_manifest(described | {"labels": ["oak", "elm", "ash"]})
    made = fit(named, x, y, method="standard", groups="class")
    store = Store.ready(server.settings)
    enter_predictor(store, made, "gina")
    store.close()
    for path in ("group_coverage", "group_sizes"):
        assert ">elm<" in gina.get(f"/certificates/{made.certificate.id}/figures/{path}").text
    id = made.certificate.predictor_id
    assert ">elm<" in gina.get(f"/predictors/{id}/figures/group_outcomes").text
    found = gina.get(f"/predictors/{id}/monitor").json()["groups"]
    assert [(one["name"], one["label"]) for one in found] == [(["0"], "oak"), (["1"], "elm"), (["2"], "ash")]


def test_figures_of_groups_are_refused_where_there_are_none(server: Server, ada: httpx.Client) -> None:
    certificate = server.predictors["classification"].certificate
    for at in (
        f"certificates/{certificate.id}/figures/group_sizes",
        f"predictors/{certificate.predictor_id}/figures/group_outcomes",
    ):
        assert ada.get(f"/{at}").status_code == 409
