"""A user's day with a service, by the client of a plain installation: a program that test_wheel.py runs there.

    python plain_client.py URL KEY

prints what came of it, as JSON.
"""

import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset import Client, verify

QUICK: dict[str, Any] = {"prior": {"steps": 30}, "optimizer": {"steps": 20}, "members": 4}


def logits(rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    y = random.integers(3, size=rows)
    return 2 * np.eye(3)[y] + random.normal(size=(rows, 3)), y


def main(url: str, key: str) -> dict[str, Any]:
    x, y = logits(600, 0)
    later_x, later_y = logits(1000, 1)
    with Client(url, key) as client:
        dataset = client.datasets.upload(x=x, y=y, name="arrays")
        model = client.models.upload({"name": "logits", "task": "classification", "classes": 3, "input_shape": [3]})
        reports: list[float] = []
        started = client.calibrations.start(dataset.id, model.id, alpha=0.1, delta=0.05, **QUICK)
        ended = client.calibrations.wait(started.id, lambda report: reports.append(report.fraction))
        assert ended.predictor_id is not None, ended.error
        assert ended.certificate_id is not None
        one = client.predict_set(ended.predictor_id, later_x[0])
        few = client.predict_set(ended.predictor_id, later_x[:3])
        # So many rows are sent and received as .npz.
        many = client.predict_set(ended.predictor_id, later_x)
        counted = client.outcomes.report([(one.prediction_id, later_y[0])])
        monitor = client.predictors.monitor(ended.predictor_id)
        document = client.certificates.download(ended.certificate_id)
        public = client.certificates.key().public_key
        return {
            "rows": dataset.rows,
            "status": ended.status,
            "reports": len(reports),
            "kinds": sorted({row.set.kind for row in (one, *few, *many)}),
            "served": [len(few), len(many)],
            "coverage": float(np.mean(many.contains(later_y))),
            "counted": counted.counted,
            "covered": [bool(covered) for covered in counted.covered],
            "one_contains_its_truth": bool(one.set.contains(later_y[0])),
            "outcomes": monitor.outcomes,
            "certificate": document.decode(),
            "public_key": public,
            "verified": verify(document, key=public).valid,
            "verified_by_the_server": client.certificates.verify(ended.certificate_id).valid,
        }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
