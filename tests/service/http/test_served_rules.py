"""Sets of a predictor that breaks ties and keeps the top label: the same whenever and however they are asked for."""

import io
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.fit import Predictor, fit
from certiset.core.store import Store
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.secret import derive, read_secret
from certiset.service.serving.prediction_ids import PredictionIds
from tests.core.fit.problems import STEPS_PAY, forest_votes, shifted_logits, shifted_logits_model
from tests.service.server import Server, enter_predictor

NPZ = {"Content-Type": "application/x-npz"}


@pytest.fixture(scope="module", name="pool")
def pool_() -> Predictor:
    options: dict[str, Any] = {**STEPS_PAY, "ties": "hash", "non_empty": True}
    return fit(shifted_logits_model(), *shifted_logits(3000, 8), **options)


@pytest.fixture(scope="module", name="ivy")
def ivy_(server: Server, pool: Predictor) -> Iterator[httpx.Client]:
    """A tenant of her own, with this predictor."""
    store = Store(server.settings)
    ring = KeyRing(store, derive(read_secret(server.settings.secret), "api keys"))
    key = ring.create(tenant="ivy", name="ivy", scopes=["read", "write"])[1]
    enter_predictor(store, pool, "ivy")
    store.close()
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        yield client


def test_one_row_as_text_and_many_as_arrays_have_the_sets_of_core(ivy: httpx.Client, pool: Predictor) -> None:
    assert pool.members > 1
    x, id = forest_votes(300, 5)[0], pool.certificate.predictor_id
    stream = io.BytesIO()
    np.savez(stream, x=x)
    as_npz = ivy.post("/predict_set", params={"predictor": id}, content=stream.getvalue(), headers=NPZ).json()
    as_json = ivy.post("/predict_set", json={"predictor": id, "x": x.tolist()}).json()
    for answer in (as_npz, as_json):
        members = [row["member"] for row in answer["predictions"]]
        assert [row["set"] for row in answer["predictions"]] == pool.predict_set(x, member=members).to_json()
        assert min(row["set"]["size"] for row in answer["predictions"]) >= 1
    text = ",".join(repr(float(value)) for value in x[0])
    for member in range(pool.members):
        body = ivy.get("/predict_set", params={"predictor": id, "x": text, "member": member}).json()
        assert body["set"] == pool.predict_set(x[:1], member=member)[0]


def test_a_prediction_is_replayed_from_its_id(server: Server, ivy: httpx.Client, pool: Predictor) -> None:
    ids = PredictionIds(derive(read_secret(server.settings.secret), "prediction ids"))
    x, id = forest_votes(40, 6)[0], pool.certificate.predictor_id
    for row in x:
        text = ",".join(repr(float(value)) for value in row)
        body = ivy.get("/predict_set", params={"predictor": id, "x": text}).json()
        said = ids.read("ivy", body["prediction_id"])
        assert said is not None
        assert said.set[0] == body["set"] == pool.predict_set(row[None], member=said.member)[0]


def test_the_certificate_has_both_halves_of_each_threshold(ivy: httpx.Client, pool: Predictor) -> None:
    document = ivy.get(f"/certificates/{pool.certificate.id}").json()
    assert [member["tie"] for member in document["members"]] == [member.tie for member in pool.certificate.members]
    assert document["options"]["ties"] == "hash"
    assert document["options"]["non_empty"] is True
    assert ivy.get(f"/certificates/{pool.certificate.id}/verify").json()["valid"]


def test_calibrations_refuse_for_numbers_what_is_for_labels(server: Server, ada: httpx.Client) -> None:
    record = server.calibrations["regression"]
    for option, value in (("ties", "hash"), ("non_empty", True)):
        body = {"dataset_id": record.dataset_id, "model_id": record.model_id, option: value}
        answer = ada.post("/calibrations", json=body)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["where"] == option
