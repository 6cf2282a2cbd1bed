"""Another population, and all alpha at once, through a real server with a worker: by client and by command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.service.cli.main import main
from certiset.service.client import Calibration, Client, ClientError, Dataset, Model
from tests.core.fit.problems import class_data
from tests.service.server import Server

PLAIN: dict[str, Any] = {"method": "standard"}
X, Y = class_data(600, 3)


def ended(client: Client, dataset: str, model: Model, **options: Any) -> Calibration:
    found = client.calibrations.wait(client.calibrations.start(dataset, model.id, **PLAIN, **options).id)
    assert found.status == "succeeded", found.error
    return found


@pytest.fixture
def all_alpha(client: Client, inputs: tuple[Dataset, Model]) -> str:
    dataset, model = inputs
    found = ended(client, dataset.id, model, alpha="all", idempotency_key="all-alpha")
    assert found.predictor_id is not None
    return found.predictor_id


def test_sets_are_asked_for_at_any_alpha(client: Client, all_alpha: str) -> None:
    row, rows, many = X[0].tolist(), X[:5].tolist(), np.tile(X, (4, 1))
    for x in (row, rows, many):
        small, large = (client.predict_set(all_alpha, x, alpha=alpha) for alpha in (0.2, 0.02))
        assert small.certificate.alpha == 0.2
        assert small.certificate.coverage == 0.8
        assert large.certificate.coverage == 0.98
    assert np.all(
        client.predict_set(all_alpha, many, alpha=0.02).size >= client.predict_set(all_alpha, many, alpha=0.3).size
    )
    for alpha in (None, 0.001):
        with pytest.raises(ClientError) as caught:
            client.predict_set(all_alpha, row, alpha=alpha)
        assert "alpha" in str(caught.value)


def test_the_open_inference_protocol_takes_alpha_as_a_parameter(deployment: Server, all_alpha: str) -> None:
    tensor = {"name": "x", "shape": [2, 2], "datatype": "FP32", "data": X[:2].ravel().tolist()}
    with deployment.client() as http:
        asked = {"inputs": [tensor], "parameters": {"alpha": 0.05}}
        answer = http.post(f"/v2/models/{all_alpha}/infer", json=asked).json()
        assert answer["parameters"]["certificate_coverage"] == 0.95
        refused = http.post(f"/v2/models/{all_alpha}/infer", json={**asked, "parameters": {"alpha": "low"}})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["where"] == "parameters.alpha"
        for alpha in ("x", "0", "1", "nan", "1e400", "0.1&alpha=0.2"):
            address = f"/predict_set?predictor={all_alpha}&x=0.1,0.2&alpha={alpha}"
            assert http.get(address).status_code == 422, alpha


def test_levels_show_the_price_and_answer_for_which_alpha_sets_are_small(client: Client, all_alpha: str) -> None:
    found = client.predictors.levels(all_alpha, size=2)
    assert found.predictor_id == all_alpha
    assert all(row.rank <= row.rank_of_one_alpha for row in found.items)
    assert all(row.size_bound is not None and row.size <= row.size_bound for row in found.items)
    assert found.answer is not None
    assert found.answer.alpha is not None
    assert found.items[0].alpha >= found.smallest_alpha
    assert client.predictors.levels(all_alpha).answer is None


def test_the_monitor_counts_the_level_in_the_middle_alone(client: Client, all_alpha: str) -> None:
    before = client.predictors.monitor(all_alpha)
    watched = client.predict_set(all_alpha, X[:3].tolist(), alpha=0.1)
    others = client.predict_set(all_alpha, X[:3].tolist(), alpha=0.2)
    truths = [int(y) for y in (*Y[:3], *Y[:3])]
    reported = [(one.prediction_id, y) for one, y in zip([*watched, *others], truths, strict=True)]
    counted = client.outcomes.report(reported)
    assert (counted.counted, counted.replayed) == (3, 3)
    after = client.predictors.monitor(all_alpha)
    assert after.promised_miscoverage == 0.1
    assert after.outcomes - before.outcomes == 3


def test_levels_of_one_alpha_are_a_conflict(client: Client, inputs: tuple[Dataset, Model]) -> None:
    dataset, model = inputs
    found = ended(client, dataset.id, model, alpha=0.1)
    assert found.predictor_id is not None
    with pytest.raises(ClientError, match="alone"):
        client.predictors.levels(found.predictor_id)
    with pytest.raises(ClientError, match="alone"):
        client.predict_set(found.predictor_id, X[0].tolist(), alpha=0.2)


def test_weights_are_a_column_and_prevalences_a_list(
    client: Client, inputs: tuple[Dataset, Model], tmp_path: Path
) -> None:
    table = tmp_path / "weighted.csv"
    rows = np.column_stack([X, np.where(X[:, 0] > 0, 1.5, 0.5), Y])
    np.savetxt(table, rows, delimiter=",", header="a,b,w,y", comments="")
    weighted = client.datasets.upload(table)
    found = ended(client, weighted.id, inputs[1], weights="w", weight_bound=2.0)
    assert found.certificate_id is not None
    certificate = client.certificates.get(found.certificate_id)
    assert "the given weights describe" in certificate.statement
    assert certificate.document["shift"]["column"] == "w"
    assert client.certificates.verify(certificate.id).valid
    with pytest.raises(ClientError, match="weight_bound"):
        client.calibrations.start(weighted.id, inputs[1].id, weights="w")
    mixed = ended(client, inputs[0].id, inputs[1], prevalences={"0": 0.5, "1": 0.25, "2": 0.25})
    assert mixed.options["prevalences"] == [0.5, 0.25, 0.25]
    with pytest.raises(ClientError, match="add up to 1"):
        client.calibrations.start(inputs[0].id, inputs[1].id, prevalences=[0.5, 0.25, 0.5])


def test_target_inputs_are_a_dataset_that_is_kept_until_the_fit_has_ended(
    client: Client, inputs: tuple[Dataset, Model]
) -> None:
    dataset, model = inputs
    target = client.datasets.upload(x=X[X[:, 0] > 0], target=None, name="target")
    found = ended(client, dataset.id, model, target_dataset_id=target.id, alpha=0.2)
    assert found.target_dataset_id == target.id
    assert found.certificate_id is not None
    certificate = client.certificates.get(found.certificate_id)
    assert "the estimated weights describe" in certificate.statement
    assert [caveat.code for caveat in certificate.caveats] == ["estimated_weights"]
    wrong = client.datasets.upload(x=X[:50, :1], target=None)
    for id, word in (
        (wrong.id, "target inputs do not fit"),
        (dataset.id, "another population"),
        ("ds-1", "no dataset"),
    ):
        with pytest.raises(ClientError, match=word):
            client.calibrations.start(dataset.id, model.id, target_dataset_id=id)


def test_commands_take_alpha_and_show_levels(
    deployment: Server,
    inputs: tuple[Dataset, Model],
    all_alpha: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CERTISET_URL", deployment.url)
    monkeypatch.setenv("CERTISET_KEY", deployment.keys["ada"])
    assert main(["predictors", "levels", all_alpha, "--size", "2"]) == 0
    said = capsys.readouterr().out
    assert "holds at once" in said
    assert "as measured" in said
    assert main(["predict", all_alpha, "--x", "0.1,0.2", "--alpha", "0.05", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"]["alpha"] == 0.05
    dataset, model = inputs
    asked = ["calibrate", "--dataset", dataset.id, "--model", model.id, "--alpha", "all", "--method", "standard"]
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["options"]["alpha"] == "all"
