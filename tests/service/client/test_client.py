"""Every method of the client, against a real server with a real worker."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from certiset.core import resources
from certiset.core.certificate import Certificate
from certiset.service.client import Client, Dataset, Model, Progress
from tests.core.fit.problems import QUICK
from tests.worker.deployment import ENDLESS


def test_the_client_loads_neither_torch_nor_the_web_framework_nor_the_store() -> None:
    heavy = (
        "torch",
        "fastapi",
        "starlette",
        "sqlalchemy",
        "celery",
        "certiset.core.store",
        "certiset.service.http.app",
        "scipy",
        "matplotlib",
    )
    code = f"import sys, certiset.service.client; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_calibration_from_start_to_certificate(client: Client, inputs: tuple[Dataset, Model]) -> None:
    dataset, model = inputs
    asked: dict[str, Any] = {**QUICK, "alpha": 0.1, "name": "by client", "idempotency_key": "client-1"}
    started = client.calibrations.start(dataset.id, model.id, **asked)
    assert client.calibrations.start(dataset.id, model.id, **asked).id == started.id
    seen: list[Progress] = []
    ended = client.calibrations.wait(started.id, seen.append)
    assert (ended.status, ended.name, ended.finished) == ("succeeded", "by client", True)
    assert seen
    assert [report.fraction for report in seen] == sorted(report.fraction for report in seen)
    assert client.calibrations.get(started.id) == ended
    assert ended in list(client.calibrations.list())
    assert ended in list(client.calibrations.list(status="succeeded"))
    assert ended not in list(client.calibrations.list(status="failed"))
    all_of_them = list(client.calibrations.events(started.id))
    assert [event.progress for event in all_of_them[:-1]] == seen
    assert all_of_them[-1].calibration == ended
    rest = list(client.calibrations.events(started.id, after=all_of_them[-2].number))
    assert rest == all_of_them[-1:]

    assert ended.certificate_id is not None
    certificate = client.certificates.get(ended.certificate_id)
    assert certificate.coverage.alpha == 0.1
    assert certificate.statement.startswith("With probability at least 95 %")
    assert certificate in list(client.certificates.list(predictor=ended.predictor_id))
    assert client.certificates.verify(certificate.id).valid
    kept = Certificate.from_json(client.certificates.download(certificate.id).decode())
    assert kept.verify(client.certificates.key().public_key).valid
    assert kept.to_json() == certificate.document


def test_cancelling(client: Client, inputs: tuple[Dataset, Model]) -> None:
    started = client.calibrations.start(inputs[0].id, inputs[1].id, **ENDLESS)
    client.calibrations.cancel(started.id)
    assert client.calibrations.wait(started.id).status == "cancelled"


def test_health(client: Client) -> None:
    assert client.health() == resources.Ready(ready=True, database="ok", broker="ok", artifacts="ok", disk="ok")


def test_a_calibration_by_groups_from_a_table_to_sets_by_their_groups(client: Client, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    region, y = rng.choice(["north", "south"], size=400), rng.integers(3, size=400)
    x = 3 * np.eye(3)[y] + rng.normal(size=(400, 3))
    rows = [",".join([*map(str, row), where, str(truth)]) for row, where, truth in zip(x, region, y, strict=True)]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["a,b,c,region,y", *rows]))
    model = client.models.upload({"name": "m", "task": "classification", "classes": 3, "input_shape": [3]})
    started = client.calibrations.start(client.datasets.upload(file).id, model.id, groups="region")
    ended = client.calibrations.wait(started.id)
    assert ended.status == "succeeded", ended.error
    certificate = client.certificates.get(ended.certificate_id or "")
    assert [group["name"] for group in certificate.document["groups"]] == [["north"], ["south"]]
    found = client.predict_set(ended.predictor_id or "", x[:4].tolist(), groups=region[:4])
    assert [one.group for one in found] == region[:4].tolist()
