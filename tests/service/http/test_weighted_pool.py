"""A pool over HTTP: members by their weights, one and the same for a case, and replays that count for nothing."""

import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from certiset.core.fit import Predictor
from certiset.core.store import Store
from certiset.service.cli.main import main
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.secret import derive, read_secret
from tests.core.fit.pools import hand_pool
from tests.core.fit.problems import class_data, class_model
from tests.service.bodies import NPZ, npz
from tests.service.server import Server, enter_predictor

WEIGHTS = [0.15, 0.85]


@pytest.fixture(scope="module")
def pool() -> Predictor:
    return hand_pool(class_model(), *class_data(1000, 0), sizes=[200, 300], weights=WEIGHTS, spread=0.3)


@pytest.fixture(scope="module")
def carol(server: Server, pool: Predictor) -> Iterator[httpx.Client]:
    """A tenant of her own, so that no other test sees what she has."""
    store = Store.ready(server.settings)
    ring = KeyRing(store, derive(read_secret(server.settings.secret), "api keys"))
    server.keys["carol"] = ring.create(tenant="carol", name="carol", scopes=["read", "write", "admin"])[1]
    enter_predictor(store, pool, tenant="carol")
    store.close()
    with server.client("carol") as client:
        yield client


@pytest.fixture(scope="module")
def id(pool: Predictor) -> str:
    return pool.certificate.predictor_id


def by_the_weights(members: list[int]) -> bool:
    counts = np.bincount(members, minlength=len(WEIGHTS))
    return bool(chisquare(counts, len(members) * np.array(WEIGHTS)).pvalue > 1e-5)


def members_of(answer: httpx.Response) -> list[int]:
    assert answer.status_code == 200, answer.text
    return [row["member"] for row in answer.json()["predictions"]]


def tensor(rows: int) -> dict[str, Any]:
    return {"name": "x", "shape": [rows, 2], "datatype": "FP32", "data": [0.0] * 2 * rows}


def inferred(answer: httpx.Response) -> list[int]:
    assert answer.status_code == 200, answer.text
    outputs = {output["name"]: output["data"] for output in answer.json()["outputs"]}
    return list(outputs["member"])


def test_an_answer_states_the_promise_for_the_pool(carol: httpx.Client, id: str, pool: Predictor) -> None:
    body = carol.get("/predict_set", params={"predictor": id, "x": "0.5,-1"}).json()
    assert body["certificate"]["guarantee"] == "pool"
    assert body["certificate"]["coverage"] == 0.9
    assert body["certificate"]["delta"] == 0.05
    assert body["set"] == pool.predict_set([[0.5, -1]], member=body["member"])[0]
    checked = carol.get(f"/certificates/{pool.certificate.id}/verify").json()
    assert checked["valid"]
    assert carol.get("/certificates", params={"bound": "progressive"}).json()["items"][0]["predictor_id"] == id


def test_every_way_to_ask_draws_by_the_weights(carol: httpx.Client, id: str) -> None:
    """Many rows of JSON, of .npz in this process and the one for large requests, and of the other protocol."""
    x = np.zeros((2000, 2))
    assert by_the_weights(members_of(carol.post("/predict_set", json={"predictor": id, "x": x.tolist()})))
    for rows in (2000, 8000):
        body = npz(x=np.zeros((rows, 2)))
        answer = carol.post("/predict_set", params={"predictor": id}, content=body, headers=NPZ)
        assert by_the_weights(members_of(answer))
    assert by_the_weights(inferred(carol.post(f"/v2/models/{id}/infer", json={"inputs": [tensor(2000)]})))


def test_one_input_asked_again_draws_afresh_by_the_weights(carol: httpx.Client, id: str) -> None:
    asked = {"predictor": id, "x": "0.5,-1"}
    members = [carol.get("/predict_set", params=asked).json()["member"] for _ in range(300)]
    assert by_the_weights(members)


def test_a_case_has_the_same_member_however_it_is_asked(carol: httpx.Client, id: str) -> None:
    names = [f"patient {number}" for number in range(3000)]
    x: NDArray[np.float64] = np.zeros((len(names), 2))
    first = members_of(carol.post("/predict_set", json={"predictor": id, "x": x.tolist(), "cases": names}))
    assert by_the_weights(first), "cases follow the weights"
    # Other inputs, another order, another form: the case alone decides.
    again = npz(x=x + 1, case=np.array(names[::-1]))
    assert members_of(carol.post("/predict_set", params={"predictor": id}, content=again, headers=NPZ)) == first[::-1]
    asked = {"inputs": [tensor(len(names))], "parameters": {"cases": names}}
    assert inferred(carol.post(f"/v2/models/{id}/infer", json=asked)) == first
    for place in (0, 1, 2, *np.flatnonzero(np.array(first) == 0)[:3].tolist()):
        for _ in range(3):
            one = carol.get("/predict_set", params={"predictor": id, "x": "1,2", "case": names[place]}).json()
            assert one["member"] == first[place]


def test_a_member_that_was_asked_for_counts_for_nothing(carol: httpx.Client, id: str) -> None:
    """Who picks the member that suits him is no evidence about the pool, whether he names a case or not."""
    before = carol.get(f"/predictors/{id}/monitor").json()["outcomes"]
    cases: list[dict[str, str]] = [{}, {"case": "picked"}]
    for more in cases:
        asked = {"predictor": id, "x": "0.25,0.5", "member": "1", **more}
        picked = carol.get("/predict_set", params=asked).json()
        told = carol.post("/outcomes", json={"prediction_id": picked["prediction_id"], "y": 0}).json()
        assert (told["counted"], told["replayed"]) == (0, 1)
    # The case still counts once, under the member that it draws.
    drawn = carol.get("/predict_set", params={"predictor": id, "x": "0.25,0.5", "case": "picked"}).json()
    assert carol.post("/outcomes", json={"prediction_id": drawn["prediction_id"], "y": 0}).json()["counted"] == 1
    assert carol.get(f"/predictors/{id}/monitor").json()["outcomes"] == before + 1


def test_one_member_alone_is_not_served(carol: httpx.Client, id: str) -> None:
    refused = carol.patch(f"/predictors/{id}", json={"serve": "best"})
    assert refused.status_code == 409
    assert "mean over all members" in refused.json()["detail"]
    assert carol.get(f"/predictors/{id}").json()["serve"] == "random"


def test_sizes_on_fresh_inputs_are_for_the_weighted_pool(carol: httpx.Client, id: str, pool: Predictor) -> None:
    x = class_data(800, 21)[0]
    stream = io.BytesIO()
    np.savez(stream, x=x)
    made = carol.post("/datasets", files={"file": ("fresh.npz", stream.getvalue())}, data={"target": ""})
    assert made.status_code == 201, made.text
    answer = carol.post(f"/predictors/{id}/sizes", json={"dataset_id": made.json()["id"]})
    assert answer.status_code == 202, answer.text
    sizes = answer.json()["sizes"]
    assert sizes["weights"] == WEIGHTS
    each = [float(pool.predict_set(x, member=member).size.mean()) for member in range(2)]
    mean = float(np.dot(WEIGHTS, each))
    assert mean <= sizes["empirical"] <= mean + 1 / 1024


def test_its_figures_show_weights_and_levels(carol: httpx.Client, pool: Predictor) -> None:
    members = carol.get(f"/certificates/{pool.certificate.id}/figures/members").text
    assert "2 members, served with chances of 0.15, 0.85" in members
    assert members.count("<circle") == 3
    budget = carol.get(f"/certificates/{pool.certificate.id}/figures/budget").text
    assert f"stands at rank {pool.certificate.coverage.k} and has spent 0 nats" in budget


def test_the_command_line_shows_who_answers_how_often(
    server: Server, carol: httpx.Client, pool: Predictor, capsys: pytest.CaptureFixture[str]
) -> None:
    url, key = str(carol.base_url), server.keys["carol"]
    assert main(["certificates", "show", pool.certificate.id, "--url", url, "--key", key]) == 0
    assert "2, served with chances of 0.15, 0.85" in capsys.readouterr().out


def test_the_document_carries_what_a_reader_needs(carol: httpx.Client, pool: Predictor) -> None:
    document = json.loads(carol.get(f"/certificates/{pool.certificate.id}").content)
    assert [member["weight"] for member in document["members"]] == WEIGHTS
    assert [member["n"] for member in document["members"]] == document["coverage"]["sizes"] == [200, 300]
    assert "not for each of its members" in document["statement"]
