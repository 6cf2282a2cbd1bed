"""What happens after a calibration: a drift that the monitor catches, and a deployment that is calibrated anew."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from certiset.service.client import ApiError, Client, Deployment
from certiset.service.demo.deliveries import DRIFTED, ROWS, SEEN, Deliveries, deliveries
from certiset.service.demo.workflow import FailedFitError

_MANIFEST = {"name": "delivery times", "task": "regression", "input_shape": [1]}
_BY_REGION, _ALL = "delivery times by region", "delivery times"
DEPLOYMENT = "delivery-times"
BLOCK, SURPRISING = 200, 40
"""rows that calibrate the next predictor, and outcomes before them that show the change"""


def drift(client: Client) -> str:
    """The predictor of delivery times: calibrated before a change, watched through it. Only once for each server."""
    options = {"method": "standard", "groups": "region", "name": _BY_REGION, "size_cap": 60.0}
    predictor = _fitted(client, *_uploaded(client), "demo-deliveries-by-region", options)
    if client.predictors.monitor(predictor).outcomes == 0:
        before, after = deliveries(SEEN, 1), deliveries(DRIFTED, 2, closed_roads=True)
        predicted = np.concatenate([before.predicted, after.predicted])
        served = client.predict_set(predictor, predicted[:, None], groups=[*before.region, *after.region])
        truths = np.concatenate([before.minutes, after.minutes])
        client.outcomes.report((row.prediction_id, truth) for row, truth in zip(served, truths, strict=True))
    return predictor


def recalibrated(client: Client) -> Deployment:
    """A name that noticed the closed roads by itself: contradicted by outcomes, and calibrated anew on later ones."""
    found = _deployment(client)
    if found is None:
        dataset, model = _uploaded(client)
        options = {"method": "standard", "name": _ALL, "size_cap": 60.0}
        predictor = _fitted(client, dataset, model, "demo-deliveries-everywhere", options)
        plan = {"every": {"rows": BLOCK}, "on_contradiction": True}
        found = client.deployments.set(DEPLOYMENT, predictor, recalibrate=plan)
    if found.predictors == 1:
        _ask_and_report(client, deliveries(SURPRISING, 3, closed_roads=True))
        _ask_and_report(client, deliveries(BLOCK, 4, closed_roads=True))
        for event in client.deployments.events(DEPLOYMENT):
            if event.kind == "failed":
                raise FailedFitError(f"The deployment {DEPLOYMENT} was not calibrated anew: {event.details}")
            if event.kind == "recalibrated":
                break
        _watch(client, client.deployments.get(DEPLOYMENT).predictor)
    return client.deployments.get(DEPLOYMENT)


def _watch(client: Client, predictor: str) -> None:
    """Outcomes of the new predictor, on roads that are still closed."""
    rows = deliveries(DRIFTED, 5, closed_roads=True)
    served = client.predict_set(predictor, rows.predicted[:, None])
    client.outcomes.report((one.prediction_id, truth) for one, truth in zip(served, rows.minutes, strict=True))


def _deployment(client: Client) -> Deployment | None:
    try:
        return client.deployments.get(DEPLOYMENT)
    except ApiError as error:
        if error.status != 404:
            raise
        return None


def _ask_and_report(client: Client, rows: Deliveries) -> None:
    """Asks under the name, and brings each input again with its truth: a row of the next predictor."""
    served = client.predict_set(DEPLOYMENT, rows.predicted[:, None])
    truths = zip(served, rows.minutes, rows.predicted, strict=True)
    client.outcomes.report((one.prediction_id, truth, [x]) for one, truth, x in truths)


def _uploaded(client: Client) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "deliveries.csv"
        file.write_bytes(deliveries(ROWS, 0).csv())
        dataset = client.datasets.upload(file, name="deliveries in four regions", target="minutes")
    return dataset.id, client.models.upload(_MANIFEST).id


def _fitted(client: Client, dataset: str, model: str, key: str, options: dict[str, Any]) -> str:
    """Its predictor; the fit of an earlier demo is reused."""
    started = client.calibrations.start(dataset, model, idempotency_key=key, **options)
    ended = client.calibrations.wait(started.id)
    if ended.predictor_id is None:
        raise FailedFitError(f"The fit of the delivery times {ended.status}: {ended.error or ''}")
    return ended.predictor_id
