"""Sets by the client: one or many, replayed, and what they contain; and the truths that are reported for them."""

from json import dumps
from typing import Any

import numpy as np
import pytest

from certiset.core import resources
from certiset.core.resources import FieldProblem
from certiset.core.settings import Settings
from certiset.service.client import ApiError, Client, PredictionSet
from certiset.service.http.access.requirements import outcomes_body
from tests.core.fit.problems import class_data, shifted_logits, toy_data
from tests.service.server import Server


def test_one_input_is_asked_for_and_replayed(client: Client, deployment: Server) -> None:
    id = deployment.id("classification")
    one = client.predict_set(id, [0.1, 0.2])
    assert (one.predictor, one.set.kind, one.certificate.coverage) == (id, "labels", 0.9)
    again = client.predict_set(id, np.array([0.1, 0.2]), member=one.member)
    assert again.set == one.set
    with deployment.client() as plain:
        answer = plain.get("/predict_set", params={"predictor": id, "x": "0.1,0.2", "member": one.member}).json()
    answer["prediction_id"] = again.prediction_id
    assert again.to_json() == answer
    interval = client.predict_set(deployment.id("regression"), 0.3).set
    assert interval.kind == "interval"
    assert isinstance(interval.lower, float)
    assert interval.contains((interval.lower + interval.upper) / 2)
    assert interval.text == f"[{interval.lower:.6g}, {interval.upper:.6g}]"
    assert not interval.contains(100)


@pytest.mark.parametrize("task", ["classification", "regression", "pool"])
def test_many_rows_have_the_same_sets_as_json_and_as_npz(
    client: Client, deployment: Server, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = {"classification": class_data, "regression": toy_data, "pool": shifted_logits}[task](1500, 5)
    predictor = deployment.predictors[task]
    member = predictor.members - 1
    sets = predictor.predict_set(x, member=member)
    as_npz = client.predict_set(deployment.id(task), x, member=member)
    monkeypatch.setattr("certiset.service.client.predict._FEW_NUMBERS", 10**9)
    as_json = client.predict_set(deployment.id(task), x, member=member)
    assert [row.set for row in as_npz] == [row.set for row in as_json]
    assert (as_npz.contains(y) == sets.contains(y)).all()
    assert as_npz.size == pytest.approx(sets.size)
    assert (as_json.contains(y) == as_npz.contains(y)).all()
    assert {row.member for row in as_npz} == {member}
    assert as_npz.certificate == as_json.certificate
    assert len(client.predict_set(deployment.id(task), x.tolist()[:3])) == 3


def test_sets_know_what_they_contain() -> None:
    def make(**content: Any) -> PredictionSet:
        return PredictionSet.model_validate(content)

    assert make(kind="labels", labels=(1, 4), size=2).contains(4)
    assert not make(kind="labels", labels=(), size=0).contains(0)
    assert make(kind="interval", lower=0.0, upper=None, size=None, unbounded=True).contains(10.0**9)
    assert not make(kind="interval", lower=None, upper=None, size=0.0, empty=True).contains(0.0)
    assert make(kind="ball", center=(0.0, 0.0), radius=5.0, size=78.5).contains([3.0, 4.0])
    assert not make(kind="ball", center=(0.0, 0.0), radius=5.0, size=78.5).contains([3.1, 4.0])
    assert make(kind="box", lower=(0.0, None), upper=(1.0, 1.0), size=None, unbounded=True).contains([1.0, -7.0])
    assert not make(kind="box", lower=(0.0, 0.0), upper=(1.0, 1.0), size=1.0).contains([1.0, 1.1])


def test_predictors_and_outcomes(client: Client, deployment: Server) -> None:
    id = deployment.id("classification")
    assert id in {found.id for found in client.predictors.list()}
    pool, rows = deployment.id("pool"), np.zeros((40, 6))
    assert client.predictors.serve(pool, "best").serve == "best"
    assert len({row.member for row in client.predict_set(pool, rows)}) == 1
    assert client.predictors.serve(pool, "random").serve == "random"
    assert client.predictors.get(pool).serve == "random"
    assert len({row.member for row in client.predict_set(pool, rows)}) > 1
    x, y = class_data(60, 9)
    served = client.predict_set(id, x)
    before = client.predictors.monitor(id).outcomes
    pairs = [(row.prediction_id, truth) for row, truth in zip(served, y, strict=True)]
    counted = client.outcomes.report(pairs)
    assert (counted.counted, counted.repeated) == (60, 0)
    assert list(counted.covered) == served.contains(y).tolist()
    assert client.outcomes.report(pairs[:7]).repeated == 7
    assert client.predictors.monitor(id).outcomes == before + 60


def test_many_outcomes_are_sent_as_many_at_a_time_as_the_server_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    client, sent = Client("http://127.0.0.1:1", "key"), []

    def ask(kind: Any, method: str, path: str, *, json: dict[str, Any]) -> Any:
        sent.append(len(json["outcomes"]))
        assert len(dumps(json)) <= outcomes_body(Settings())
        if len(sent) == 3:
            where = FieldProblem(where="outcomes.7.y", message="")
            raise ApiError(resources.Problem(type="", title="", status=422, detail="", code="", errors=(where,)))
        return kind(counted=len(json["outcomes"]), repeated=0, replayed=0, covered=())

    monkeypatch.setattr(client._connection, "ask", ask)
    assert client.outcomes.report([]).counted == 0
    with pytest.raises(ApiError) as refused:
        client.outcomes.report((k * 50 * "A", 0.123456789) for k in (1, 2, 3, 400) for _ in range(10_000))
    assert refused.value.errors[0].where == f"outcomes.{sum(sent[:2]) + 7}.y"
    sent.clear()
    assert client.outcomes.report(("A" * 20, 1) for _ in range(15_000)).counted == 15_000
    assert sent == [10_000, 5_000]


def test_cases_are_named_and_truths_corrected(client: Client, deployment: Server) -> None:
    id, x = deployment.id("classification"), class_data(3, 33)[0]
    served = client.predict_set(id, x, cases=["one", "two", "two"])
    inside = [one.set.labels[0] if one.set.labels else 0 for one in served]
    counted = client.outcomes.report((one.prediction_id, y) for one, y in zip(served, inside, strict=True))
    assert (counted.counted, counted.repeated) == (2, 1)
    again = client.predict_set(id, x[0], cases="one")
    assert client.outcomes.report([(again.prediction_id, 0)]).repeated == 1
    before = client.predictors.monitor(id)
    outside = next(label for label in range(3) if label not in served[0].set.labels)
    state = client.outcomes.correct(served[0].prediction_id, outside)
    assert (state.predictor_id, state.covered, state.state) == (id, False, "counted")
    client.outcomes.annul(served[1].prediction_id)
    after = client.predictors.monitor(id)
    was_missed = not counted.covered[0]
    assert (after.outcomes, after.misses) == (
        before.outcomes - 1,
        before.misses + 1 - was_missed - (not counted.covered[1]),
    )
    with pytest.raises(ValueError, match="2 cases were given for one input"):
        client.predict_set(id, x[0], cases=["a", "b"])
    many = client.predict_set(id, np.zeros((1500, 2)), cases="one")
    assert len({row.member for row in many}) == 1
    # Many rows go as .npz, and their cases with them.
    numbers = np.arange(1500) % 3
    by_number = client.predict_set(id, np.zeros((1500, 2)), cases=numbers)
    by_text = client.predict_set(id, np.zeros((3, 2)), cases=["0", "1", "2"])
    assert [row.member for row in by_number] == [by_text[number].member for number in numbers]
    with pytest.raises(ApiError, match="case has 1 entries, and x has 1,500 rows"):
        client.predict_set(id, np.zeros((1500, 2)), cases=["one"])
    with pytest.raises(ApiError, match="1 to 200 characters"):
        client.predict_set(id, np.zeros((1500, 2)), cases=["x" * 201] * 1500)
