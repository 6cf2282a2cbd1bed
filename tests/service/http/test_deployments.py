"""Names for predictors, over HTTP: switched at once, never mixed, with a history and a way back."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.service.client import Client
from tests.service.bodies import NPZ, npz
from tests.service.server import Server, replica_of
from tests.service.switching import Load


@pytest.fixture(name="name")
def name_(request: pytest.FixtureRequest, ada: httpx.Client) -> Iterator[str]:
    """A name of the test's own, which stands for nothing yet."""
    made = "test." + "".join(letter if letter.isalnum() else "-" for letter in request.node.name.lower())[:50]
    yield made
    ada.delete(f"/deployments/{made}")


def put(client: httpx.Client, name: str, predictor: str, **more: Any) -> httpx.Response:
    headers = more.pop("headers", {})
    return client.put(f"/deployments/{name}", json={"predictor": predictor, **more}, headers=headers)


def test_a_name_stands_for_a_predictor_wherever_its_id_does(server: Server, ada: httpx.Client, name: str) -> None:
    first, second = server.id("classification"), server.id("doomed")
    made = put(ada, name, first)
    assert (made.status_code, made.json()["version"], made.headers["etag"]) == (201, 1, '"1"')
    one = ada.get("/predict_set", params={"predictor": name, "x": "0.5,-1"}).json()
    assert (one["predictor"], one["deployment"]) == (first, {"name": name, "version": 1})
    switched = put(ada, name, second)
    assert (switched.status_code, switched.json()["version"]) == (200, 2)
    many = ada.post("/predict_set", json={"predictor": name, "x": [[0.5, -1], [1, 1]]}).json()
    assert (many["predictor"], many["deployment"]["version"]) == (second, 2)
    assert {row["predictor"] for row in many["predictions"]} == {second}
    packed = ada.post("/predict_set", params={"predictor": name}, content=npz(x=np.zeros((3, 2))), headers=NPZ)
    assert packed.json()["deployment"] == {"name": name, "version": 2}
    about = ada.get(f"/v2/models/{name}").json()
    assert (about["name"], about["versions"]) == (name, ["2"])
    tensor = {"name": "x", "shape": [1, 2], "datatype": "FP64", "data": [0.5, -1.0]}
    inferred = ada.post(f"/v2/models/{name}/infer", json={"inputs": [tensor]}).json()
    assert (inferred["model_name"], inferred["model_version"]) == (name, "2")
    assert inferred["parameters"]["predictor"] == second
    assert ada.get(f"/predictors/{name}").json()["id"] == second
    assert ada.get(f"/predictors/{name}/monitor").json()["predictor_id"] == second
    listed = ada.get("/certificates", params={"predictor": name}).json()["items"]
    assert {one["predictor_id"] for one in listed} == {second}
    counted = ada.post("/outcomes", json={"prediction_id": one["prediction_id"], "y": 0})
    assert counted.status_code == 200
    # An id means what it did before.
    by_id = ada.get("/predict_set", params={"predictor": first, "x": "0.5,-1"}).json()
    assert by_id["predictor"] == first
    assert "deployment" not in by_id


def test_history_rollback_and_events(server: Server, ada: httpx.Client, name: str) -> None:
    first, second = server.id("classification"), server.id("doomed")
    assert ada.post(f"/deployments/{name}/rollback").status_code == 404
    put(ada, name, first)
    assert ada.post(f"/deployments/{name}/rollback").status_code == 409
    put(ada, name, second)
    # The same again changes nothing.
    assert put(ada, name, second).json()["version"] == 2
    back = ada.post(f"/deployments/{name}/rollback").json()
    assert (back["predictor"], back["version"]) == (first, 3)
    again = ada.post(f"/deployments/{name}/rollback", json={"version": 2}).json()
    assert (again["predictor"], again["version"]) == (second, 4)
    assert ada.post(f"/deployments/{name}/rollback", json={"version": 2}).status_code == 409
    history = ada.get(f"/deployments/{name}/history", params={"limit": 3}).json()
    assert [(one["version"], one["how"], one["predictor"]) for one in history["items"]] == [
        (4, "rolled_back", second),
        (3, "rolled_back", first),
        (2, "switched", second),
    ]
    assert history["items"][0]["until"] is None
    older = ada.get(f"/deployments/{name}/history", params={"cursor": history["next_cursor"]}).json()
    assert [(one["version"], one["until"]) for one in older["items"]] == [(1, history["items"][2]["since"])]
    kinds, numbers = [], []
    with ada.stream("GET", f"/deployments/{name}/events", headers={"Last-Event-ID": "1"}) as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                event = json.loads(line.removeprefix("data: "))
                kinds.append(event["kind"])
                numbers.append(event["number"])
            if len(kinds) == 3:
                break
    assert (kinds, numbers) == (["switched", "rolled_back", "rolled_back"], [2, 3, 4])
    assert ada.delete(f"/deployments/{name}").status_code == 204
    assert ada.get(f"/deployments/{name}").status_code == 404
    assert ada.get("/predict_set", params={"predictor": name, "x": "0.5,-1"}).status_code == 404
    ended = ada.get(f"/deployments/{name}/history").json()["items"][0]
    assert (ended["version"], ended["how"], ended["predictor"]) == (5, "deleted", None)
    # A name that is given again goes on counting: a version means one thing for good.
    assert put(ada, name, first).json()["version"] == 6
    log = ada.get("/audit", params={"object": name}).json()["items"]
    assert {"deployment.set", "deployment.rollback", "deployment.delete"} <= {entry["action"] for entry in log}


def test_of_two_who_change_it_at_once_one_is_told(server: Server, ada: httpx.Client, name: str) -> None:
    first, second = server.id("classification"), server.id("doomed")
    put(ada, name, first)
    late = {"If-Match": '"1"'}
    assert put(ada, name, second, headers=late).status_code == 200
    refused = put(ada, name, first, headers=late)
    assert (refused.status_code, refused.json()["code"]) == (412, "version_mismatch")
    assert put(ada, name, first, headers={"If-None-Match": "*"}).status_code == 412
    assert put(ada, f"{name}-2", first, headers={"If-Match": "*"}).status_code == 404
    assert put(ada, name, first, headers={"If-Match": "soon"}).status_code == 422
    assert ada.delete(f"/deployments/{name}", headers=late).status_code == 412
    assert ada.delete(f"/deployments/{name}", headers={"If-Match": '"2"'}).status_code == 204


def test_what_cannot_be_is_refused_in_a_sentence(server: Server, ada: httpx.Client, name: str) -> None:
    good = server.id("classification")
    for bad in ("pred-1f0c", "cal-7", "cert-x"):
        refused = put(ada, bad, good)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_option"), bad
        assert "as ids do" in refused.json()["detail"]
    for bad in ("Upper", "-dash", "a" * 65, "white space"):
        assert put(ada, bad, good).status_code == 422, bad
    assert put(ada, name, "pred-" + "0" * 19).status_code == 404
    assert put(ada, name, "another-name").status_code == 422
    assert put(ada, name, good, more=1).status_code == 422
    put(ada, name, good)
    other_task = put(ada, name, server.id("regression"))
    assert (other_task.status_code, other_task.json()["errors"][0]["where"]) == (409, "predictor")
    held = ada.delete(f"/predictors/{good}")
    assert held.status_code == 409
    assert name in held.json()["detail"]
    for every in ({}, {"rows": 5, "days": 5}, {"rows": 0}, "P1M", "PT", "500", {"days": 1e9}):
        refused = put(ada, name, good, recalibrate={"every": every})
        assert refused.status_code == 422, every
    assert put(ada, name, good, spend={"total": 0.01, "over": 2}).status_code == 409
    assert put(ada, name, good, spend={"total": 0.05, "over": 2}).json()["delta_all"] == 0.05


def test_names_belong_to_their_tenant(server: Server, ada: httpx.Client, name: str) -> None:
    put(ada, name, server.id("classification"))
    with server.client("eve") as eve, server.client("reader") as reader:
        assert eve.get(f"/deployments/{name}").status_code == 404
        assert eve.get("/predict_set", params={"predictor": name, "x": "0,0"}).status_code == 404
        assert eve.get(f"/deployments/{name}/history").status_code == 404
        assert eve.get(f"/deployments/{name}/events").status_code == 404
        assert eve.get("/deployments").json()["items"] == []
        assert put(eve, name, server.id("classification")).status_code == 404
        assert put(reader, name, server.id("doomed")).status_code == 403
        assert reader.get("/predict_set", params={"predictor": name, "x": "0,0"}).status_code == 200
    listed = {one["name"]: one for one in ada.get("/deployments").json()["items"]}
    assert {"predictor", "version", "since"} <= set(listed[name])
    assert ada.get("/usage").json()["deployments"] >= 1


def test_the_client_uses_names_and_sets_them(server: Server, name: str) -> None:
    first, second = server.id("classification"), server.id("doomed")
    with Client(server.url, server.keys["ada"]) as client:
        assert client.deployments.set(name, first).version == 1
        assert client.deployments.set(name, second, version=1).predictor == second
        assert client.deployments.roll_back(name).predictor == first
        assert [one.version for one in client.deployments.history(name)] == [3, 2, 1]
        assert next(client.deployments.events(name, after=1)).kind == "switched"
        single = client.predict_set(name, [0.5, -1.0])
        few = client.predict_set(name, [[0.5, -1.0]] * 3)
        many = client.predict_set(name, np.zeros((1500, 2)))
        for answered in (single, few, many, many[7]):
            assert answered.predictor == first
            assert answered.deployment is not None
            assert (answered.deployment.name, answered.deployment.version) == (name, 3)
        assert client.predictors.get(name).id == first
        assert client.predictors.monitor(name).predictor_id == first
        client.deployments.delete(name)


def test_twenty_switches_over_two_replicas_lose_and_mix_nothing(server: Server, ada: httpx.Client, name: str) -> None:
    predictors = [server.id("classification"), server.id("doomed")]
    put(ada, name, predictors[0])
    with replica_of(server) as (_, url), Load([server.url, url], server.keys["ada"], name, rows=200) as load:
        for turn in range(20):
            assert put(ada, name, predictors[(turn + 1) % 2]).status_code == 200
            time.sleep(0.02)
        last = ada.get(f"/deployments/{name}").json()
        load.wait_for_version(last["version"])
    load.check(dict(enumerate([predictors[turn % 2] for turn in range(21)], start=1)))


def test_a_switch_is_known_everywhere_within_seconds(server: Server, ada: httpx.Client, name: str) -> None:
    put(ada, name, server.id("classification"))
    asked = {"predictor": name, "x": "0.5,-1"}
    with replica_of(server) as (_, url), server.client() as other:
        other.base_url = httpx.URL(url)
        assert other.get("/predict_set", params=asked).json()["predictor"] == server.id("classification")
        put(ada, name, server.id("doomed"))
        switched = time.monotonic()
        # Here at once.
        assert ada.get("/predict_set", params=asked).json()["predictor"] == server.id("doomed")
        while other.get("/predict_set", params=asked).json()["predictor"] != server.id("doomed"):
            assert time.monotonic() - switched < 10
        # Nobody who asks meanwhile finds a name that was not looked at for long: it is looked at before it is used.
        time.sleep(3.2)
        put(ada, name, server.id("classification"))
        time.sleep(3.2)
        found: list[str] = []

        def ask() -> None:
            with httpx.Client(headers=other.headers) as one:
                found.append(one.get(f"{url}/predict_set", params=asked).json()["predictor"])

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [server.id("classification")] * 4
