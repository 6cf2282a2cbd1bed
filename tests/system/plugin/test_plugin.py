"""A package that certiset has never heard of brings a score, a kind of set and a file format by its entry points.

All three go the whole way, through real processes: upload, calibration, sets, outcomes, client, and documentation.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.servers import free_port, wait_until

PACKAGE = Path(__file__).parent / "package"
MANIFEST = '{"name": "plane", "task": "regression", "input_shape": [2]}'


@pytest.fixture(scope="module", name="installed")
def installed_(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that finds the package."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    source = tmp_path_factory.mktemp("source") / "package"
    subprocess.run(["cp", "-r", str(PACKAGE), str(source)], check=True)
    subprocess.run([*command, "--target", str(folder), str(source)], check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module", name="client")
def client_(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    home, port = tmp_path_factory.mktemp("home"), free_port()
    command = [sys.executable, "-P", "-m", "certiset", "up", "--home", str(home), "--port", str(port), "--no-demo"]
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(command, env=installed, stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            wait_until(lambda: _healthy(client), 180, "the server")
            client.headers["Authorization"] = f"Bearer {(home / 'key').read_text().strip()}"
            yield client
    finally:
        process.terminate()
        process.wait(timeout=40)


def _healthy(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module", name="points")
def points_() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 2))
    return x, x + random.normal(size=(400, 2)) * [0.5, 1.5]


@pytest.fixture(scope="module", name="calibrated")
def calibrated_(client: httpx.Client, points: tuple[Any, Any]) -> dict[str, Any]:
    x, y = points
    lines = ["a\tb\ty_0\ty_1", *("\t".join(map(str, row)) for row in np.hstack([x, y]).tolist())]
    dataset = client.post("/datasets", files={"file": ("plane.tsv", "\n".join(lines))})
    assert dataset.status_code == 201, dataset.text
    model = client.post("/models", files={"manifest": (None, MANIFEST)})
    body = {"dataset_id": dataset.json()["id"], "model_id": model.json()["id"], "method": "standard", "size_cap": 100}
    made = client.post("/calibrations", json={**body, "score": {"kind": "ellipse", "stretch": 3.0}})
    assert made.status_code == 202, made.text
    address = made.headers["Location"]
    wait_until(lambda: client.get(address).json()["status"] in ("succeeded", "failed"), 60, "the calibration")
    ended: dict[str, Any] = client.get(address).json()
    assert ended["status"] == "succeeded", ended["error"]
    return ended


def test_it_is_calibrated_and_certified(client: httpx.Client, calibrated: dict[str, Any]) -> None:
    assert calibrated["options"]["score"] == {"kind": "ellipse", "stretch": 3.0}
    certificate = client.get(f"/certificates/{calibrated['certificate_id']}").json()
    assert certificate["provenance"]["score"] == "ellipse"
    assert certificate["efficiency"]["upper_bound"] is not None
    assert client.get(f"/certificates/{calibrated['certificate_id']}/verify").json()["valid"]


def test_its_sets_are_served_and_their_outcomes_counted(client: httpx.Client, calibrated: dict[str, Any]) -> None:
    served = client.get("/predict_set", params={"predictor": calibrated["predictor_id"], "x": "0.5,-1"}).json()
    found = served["set"]
    assert found["kind"] == "ellipse"
    assert found["center"] == [0.5, -1.0]
    assert found["radii"][1] == pytest.approx(3 * found["radii"][0])
    assert found["size"] == pytest.approx(np.pi * np.prod(found["radii"]))
    for y, covered in (([0.5, -1.0], True), ([50.0, 0.0], False)):
        answer = client.post("/outcomes", json={"prediction_id": served["prediction_id"], "y": y}).json()
        assert answer["covered"] == [covered]


def test_its_sets_are_served_as_arrays(
    client: httpx.Client, calibrated: dict[str, Any], points: tuple[Any, Any], installed: dict[str, str]
) -> None:
    asked = {"inputs": [{"name": "x", "shape": [3, 2], "datatype": "FP64", "data": points[0][:3].ravel().tolist()}]}
    answer = client.post(f"/v2/models/{calibrated['predictor_id']}/infer", json=asked).json()
    outputs = {output["name"]: output for output in answer["outputs"]}
    assert outputs["radii"]["shape"] == [3, 2]
    described = client.get(f"/v2/models/{calibrated['predictor_id']}").json()["outputs"]
    assert {"name": "radii", "datatype": "FP64", "shape": [-1, -1]} in described
    # Many rows go to and fro as .npz in the client, here beside the same package.
    program = (
        "import sys, numpy as np\nfrom certiset import Client\n"
        "url, key, predictor = sys.argv[1:]\n"
        "rows = np.random.default_rng(1).normal(size=(1500, 2))\n"
        "served = Client(url, key).predict_set(predictor, rows)\n"
        "print(len(served), served[0].set.kind, served.contains(rows).all(), served[7].set.text)\n"
    )
    key = client.headers["Authorization"].removeprefix("Bearer ")
    command = [sys.executable, "-c", program, str(client.base_url), key, calibrated["predictor_id"]]
    done = subprocess.run(command, env=installed, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("1500 ellipse True ellipse around ("), done.stderr


def test_it_is_documented_without_a_word_of_ours(client: httpx.Client) -> None:
    options = client.get("/options").json()
    scores = {one["title"]: one for one in options["properties"]["score"]["anyOf"][0]["oneOf"]}
    assert scores["ellipse"]["properties"]["stretch"]["default"] == 2.0
    assert scores["ellipse"]["x-set"] == "ellipse"
    assert ".tsv" in options["x-file-suffixes"]
    document = client.get("/openapi.json").text
    assert '"ellipse"' in document
    assert ".tsv" in document


@pytest.mark.parametrize(
    ("score", "where"), [({"kind": "ellipse", "stretch": -1}, "score.stretch"), ({"kind": "elipse"}, "score.kind")]
)
def test_its_options_are_checked(client: httpx.Client, calibrated: dict[str, Any], score: Any, where: str) -> None:
    body = {"dataset_id": calibrated["dataset_id"], "model_id": calibrated["model_id"], "score": score}
    refused = client.post("/calibrations", json=body)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["where"] == where


def test_without_the_package_nobody_knows_its_kinds() -> None:
    program = "from certiset.core.scores import SCORES; print('ellipse' in SCORES)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
