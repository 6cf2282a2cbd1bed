"""The demo as a newcomer runs it: for real, twice, in an empty folder."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from certiset.core.certificate.rounding import at_most
from certiset.service.client import Client
from certiset.service.demo.afterwards import DEPLOYMENT
from certiset.service.demo.deliveries import DRIFTED, deliveries
from certiset.service.demo.digits import digits
from certiset.service.demo.problem import DemoProblem
from certiset.service.demo.toy import toy
from certiset.service.demo.workflow import METHODS
from tests.servers import answers, children_of, free_port, wait_until
from tests.worker.deployment import alive

PATIENCE = 300


def start(*arguments: str, **options: Any) -> "subprocess.Popen[str]":
    known = {name: value for name, value in os.environ.items() if not name.startswith("CERTISET_")}
    command = [sys.executable, "-m", "certiset", "demo", *arguments]
    return subprocess.Popen(command, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def first(home: Path) -> str:
    """What the first demo in that home prints."""
    demo = start("--exit", "--home", str(home), "--port", str(free_port()))
    output, errors = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 0, errors
    return output


def test_it_tells_what_was_promised_and_what_was_measured(first: str) -> None:
    for title in ("toy regression", "digits, moved and noisy"):
        for method in METHODS:
            assert f"{title}, {method}: With probability at least 95 %" in first
    assert first.count("GET /predict_set?predictor=pred-") == 3
    assert first.count("90 % with confidence 95 %") == 8
    assert "loss" in first


def test_it_explains_its_methods_and_shows_what_each_is_made_of(first: str) -> None:
    for method, words in METHODS.items():
        assert f"{method:<10} {words}" in first
    # The paper's members are drawn from a posterior, and the default says why it chose.
    assert len(re.findall(r"pac_bayes +\d+ \(KL [\d.]+ of [\d.]+ nats\)", first)) == 2
    assert first.count("revealed") >= 2


def test_it_shows_a_drift_that_the_monitor_catches_and_a_deployment_that_was_recalibrated(first: str) -> None:
    assert re.search(r"of 400 outcomes were missed, and its certificate is contradicted", first)
    assert "was calibrated anew on 200 later outcomes" in first
    assert "GET /predict_set?predictor=delivery-times&x=" in first


def test_it_names_the_dashboard_with_the_key(first: str, home: Path) -> None:
    assert f"/#key={(home / 'key').read_text().strip()}\n" in first


def test_a_second_demo_fits_nothing_and_its_numbers_are_the_servers(first: str, home: Path) -> None:
    port = free_port()
    demo = start("--home", str(home), "--port", str(port), "--json")
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: answers(url), PATIENCE, "the server")
    # Another demo beside it finds the server that is there, and does not end it.
    beside = start("--home", str(home), "--port", str(port), "--json")
    output, told = beside.communicate(timeout=PATIENCE)
    assert beside.returncode == 0, told
    assert told.count("already fitted") == 8
    rows = json.loads(output)
    with Client(url, (home / "key").read_text().strip()) as client:
        assert len(list(client.calibrations.list())) == 11
        assert len(list(client.datasets.list())) == 4
        assert_a_drift_was_answered(client)
        assert len(list(client.models.list())) == 3
        problems = {problem.name: problem for problem in (toy(), digits())}
        for row in rows:
            assert_as_the_server_says(client, row, problems[row["problem"]])
            certified = f"at most {at_most(row['certified_size'])}"
            begins = f"{row['problem']} +{row['method']} +{row['members']} "
            shown = rf"{begins}.*90 % with confidence 95 % .* {re.escape(certified)}"
            assert re.search(shown, first), shown
    wait_until(lambda: len(children_of(demo.pid)) == 2, PATIENCE, "the first one's demo to be done")
    demo.send_signal(signal.SIGINT)
    _, errors = demo.communicate(timeout=60)
    assert demo.returncode == 0, errors


def assert_a_drift_was_answered(client: Client) -> None:
    """The first predictor of the name is contradicted, and the next one covers what came after the drift."""
    versions = [(one.how, one.predictor) for one in client.deployments.history(DEPLOYMENT)]
    assert [how for how, _ in versions] == ["recalibrated", "created"]
    (_, later), (_, first) = versions
    assert later is not None
    assert first is not None
    assert client.predictors.get(first).certificate_status == "contradicted"
    assert client.predictors.get(later).certificate_status == "consistent"
    assert client.predictors.monitor(later).outcomes == DRIFTED
    rows = deliveries(400, 9, closed_roads=True)
    covered = [client.predict_set(id, rows.predicted[:, None]).contains(rows.minutes).mean() for id in (first, later)]
    assert covered[0] < 0.5
    assert covered[1] > 0.85


def assert_as_the_server_says(client: Client, row: dict[str, Any], problem: DemoProblem) -> None:
    certificate = client.certificates.get(row["certificate_id"])
    assert (row["promised_coverage"], row["confidence"]) == (0.9, 0.95)
    assert row["certified_size"] == certificate.efficiency.upper_bound is not None
    assert client.certificates.verify(certificate.id).valid
    predictor = client.predictors.get(row["predictor_id"])
    served = client.predict_set(predictor.id, problem.test_x)
    # Served by one member, the sets are the same each time; by several, nearly.
    exact = 1e-12 if predictor.members == 1 else 0.03
    assert row["measured_coverage"] == pytest.approx(served.contains(problem.test_y).mean(), abs=exact)
    assert row["mean_size"] == pytest.approx(served.size.mean(), abs=10 * exact)
    assert row["mean_size"] <= row["certified_size"]
    assert row["measured_coverage"] > 0.85
    assert client.predictors.monitor(predictor.id).outcomes == 200


def test_ctrl_c_in_the_middle_stops_everything(tmp_path: Path) -> None:
    port = free_port()
    demo = start("--home", str(tmp_path), "--port", str(port))
    wait_until(lambda: len(children_of(demo.pid)) == 3, PATIENCE, "API, worker and demo")
    wait_until(lambda: answers(f"http://127.0.0.1:{port}"), PATIENCE, "the server")
    children = children_of(demo.pid)
    demo.send_signal(signal.SIGINT)
    _, errors = demo.communicate(timeout=60)
    assert demo.returncode == 130, errors
    assert "Traceback" not in errors
    assert not any(alive(child) for child in children)


def test_a_server_elsewhere_that_is_not_there(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    demo = start("--url", url, "--home", str(tmp_path))
    _, errors = demo.communicate(timeout=60)
    assert demo.returncode == 3
    assert f"Nothing answers at {url}" in errors


def test_the_problems_are_the_same_each_time() -> None:
    for make in (toy, digits):
        one, two = make(), make()
        for name, weights in one.weights.items():
            assert (weights == two.weights[name]).all()
        assert (one.x == two.x).all()
        assert (one.test_y == two.test_y).all()
        rows = {row.tobytes() for row in one.x}
        assert not any(row.tobytes() in rows for row in one.test_x)
