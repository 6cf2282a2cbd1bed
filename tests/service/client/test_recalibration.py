"""A deployment recalibrates on its own outcomes: by HTTP, with a worker that fits."""

import json
from pathlib import Path

import numpy as np
import pytest

from certiset.core.certificate import Certificate
from certiset.service.client import ApiError, Client, Dataset, Model
from tests.core.fit.problems import QUICK, class_data
from tests.service.server import Server

ROWS = 150


def test_outcomes_that_bring_their_inputs_calibrate_the_next_predictor(
    client: Client, inputs: tuple[Dataset, Model], deployment: Server, tmp_path: Path
) -> None:
    dataset, model = inputs
    started = client.calibrations.start(dataset.id, model.id, **{**QUICK, "method": "standard"})
    first = client.calibrations.wait(started.id).predictor_id
    assert first is not None
    name = "recalibrated"
    spend = {"total": 0.2, "over": 4}
    client.deployments.set(name, first, recalibrate={"every": {"rows": ROWS}, "on_contradiction": True}, spend=spend)
    x, y = class_data(ROWS + 10, 77)
    # In other digits, and by the predictor's own id.
    by_id = client.predict_set(first, x)
    asked = client.predict_set(name, x.astype(np.float64))
    assert client.outcomes.report([(by_id[0].prediction_id, y[0], x[0])]).collected == 0
    with pytest.raises(ApiError) as refused:
        client.outcomes.report([(asked[0].prediction_id, y[0], x[1])])
    assert (refused.value.status, refused.value.errors[0].where) == (422, "outcomes.0.x")
    with pytest.raises(ApiError, match="not the input that was asked"):
        client.outcomes.report([(asked[0].prediction_id, y[0], [*x[0], 0.0])])
    assert client.outcomes.report([(asked[0].prediction_id, y[0])]).collected == 0
    # One that was reported before is no row, even if it brings its input now.
    assert client.outcomes.report([(asked[0].prediction_id, y[0], x[0])]).collected == 0
    rows = [(row.prediction_id, truth, given) for row, truth, given in zip(asked, y, x, strict=True)]
    counted = client.outcomes.report(rows[1 : ROWS + 1])
    assert (counted.counted, counted.collected) == (ROWS, ROWS)
    for event in client.deployments.events(name):
        assert event.kind not in ("failed", "contradicted"), event
        if event.kind == "recalibrated":
            break
    now = client.deployments.get(name)
    assert (now.predictor != first, now.version, now.predictors) == (True, 2, 2)
    served = client.predict_set(name, x[0])
    assert served.deployment is not None
    # The replica that answers may have looked seconds ago.
    assert (served.predictor, served.deployment.version) in ((first, 1), (now.predictor, 2))
    document = client.certificates.get(now.certificate_id).document
    certificate = Certificate.from_json(json.dumps(document))
    assert certificate.verify().holds
    told = certificate.deployment
    assert told is not None
    assert (told.name, told.block, told.rows, told.total, told.over) == (name, 1, ROWS, 0.2, 4)
    assert told.delta_all == pytest.approx(0.1)
    assert certificate.coverage.delta == pytest.approx(0.05)
    assert "It is assumed that truths are reported regardless of the set" in told.statement
    forged = json.loads(json.dumps(document))
    forged["deployment"]["delta_all"] = 0.01
    assert not Certificate.from_json(json.dumps(forged)).verify().holds
    back = client.deployments.roll_back(name)
    assert (back.predictor, back.version) == (first, 3)
    client.deployments.delete(name)
