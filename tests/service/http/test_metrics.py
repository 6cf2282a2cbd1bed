"""/metrics: names and types by Prometheus' conventions, and numbers that are true."""

from pathlib import Path

import httpx
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from certiset.core.errors import DatabaseUnavailableError, DataError
from certiset.core.sandbox import SandboxError
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.audit import AuditFilter
from certiset.core.store.monitors import Levels
from certiset.core.store.outcomes import Reported
from certiset.core.store.records import STATUSES
from certiset.service.http.metrics import Metrics
from certiset.service.http.problems import codes
from tests.core.data.parquet import CONTRADICTORY, with_footer
from tests.core.store.records import a_calibration, a_fit_result
from tests.databases import new_store
from tests.service.server import Server

TYPES = {
    "certiset_requests": "counter",
    "certiset_request_seconds": "histogram",
    "certiset_rows": "counter",
    "certiset_deployments": "gauge",
    "certiset_deployment_rows": "gauge",
    "certiset_deployment_events_last_hour": "gauge",
    "certiset_inference_waiting_numbers": "gauge",
    "certiset_batch_process": "gauge",
    "certiset_event_streams": "gauge",
    "certiset_request_bytes_in_flight": "gauge",
    "certiset_refused_requests": "counter",
    "certiset_confined_process_deaths": "counter",
    "certiset_database_up": "gauge",
    "certiset_calibrations": "gauge",
    "certiset_batches": "gauge",
    "certiset_queue_age_seconds": "gauge",
    "certiset_tenant_queue_age_seconds": "gauge",
    "certiset_fit_seconds": "histogram",
    "certiset_fit_deaths_last_hour": "gauge",
    "certiset_contradicted_certificates": "gauge",
    "certiset_predictor_contradicted": "gauge",
    "certiset_audit_rows": "gauge",
}
LABELS = {"method", "route", "status", "le", "reason", "purpose", "tenant", "predictor", "kind"}


def families(text: str) -> dict[str, Metric]:
    # A counter has a second family, for when it was created.
    found = {family.name: family for family in text_string_to_metric_families(text)}
    return {name: family for name, family in found.items() if not name.endswith("_created")}


def value(family: Metric, **labels: str) -> float:
    wanted = [sample.value for sample in family.samples if labels.items() <= sample.labels.items()]
    assert len(wanted) == 1, (family, labels)
    return float(wanted[0])


def test_names_types_and_labels(server: Server, ada: httpx.Client) -> None:
    assert ada.get("/metrics").status_code == 403
    with server.client("operator") as operator:
        found = families(operator.get("/metrics").text)
    assert {name: family.type for name, family in found.items()} == TYPES
    for family in found.values():
        assert family.documentation.endswith(".")
        for sample in family.samples:
            assert set(sample.labels) <= LABELS
            assert family.type != "counter" or sample.name.endswith(("_total", "_created"))
    reasons = {sample.labels["reason"] for sample in found["certiset_refused_requests"].samples}
    assert "forbidden" in reasons
    assert reasons <= set(codes())
    calibrations = {sample.labels["status"] for sample in found["certiset_calibrations"].samples}
    assert calibrations == set(STATUSES)
    assert value(found["certiset_database_up"]) == 1
    assert value(found["certiset_audit_rows"]) > 0
    fits = [sample for sample in found["certiset_fit_seconds"].samples if sample.labels["status"] == "succeeded"]
    buckets = [sample.value for sample in fits if sample.name.endswith("_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == next(sample.value for sample in fits if sample.name.endswith("_count")) >= 5


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(Settings(home=tmp_path))


def test_what_the_database_knows(store: Store) -> None:
    metrics = Metrics(store)
    waiting, done = a_calibration(store, "ada"), a_calibration(store, "eve")
    with store.writing() as work:
        claim = work.leases.claim(done.id)
        assert claim is not None
        assert work.leases.succeed(claim, a_fit_result())
        work.outcomes.add("eve", "pred-1", [Reported(f"{n}", True) for n in range(100)], Levels(0.1, 0.01, None))
        found = work.calibrations.find(waiting.id)
        assert found is not None
        found.not_before -= 100
    found_families = families(metrics.text().decode())
    assert 100 <= value(found_families["certiset_queue_age_seconds"]) < 200
    assert 100 <= value(found_families["certiset_tenant_queue_age_seconds"], tenant="ada") < 200
    assert value(found_families["certiset_calibrations"], status="queued") == 1
    assert value(found_families["certiset_predictor_contradicted"], tenant="eve", predictor="pred-1") == 1
    assert value(found_families["certiset_fit_seconds"], status="succeeded", le="60.0") == 1
    store.close()


def test_fitting_processes_that_died_are_counted_for_an_hour(store: Store) -> None:
    metrics, job = Metrics(store), a_calibration(store)

    def deaths() -> float:
        return value(families(metrics.text().decode())["certiset_fit_deaths_last_hour"])

    assert deaths() == 0
    with store.writing() as work:
        claim = work.leases.claim(job.id)
        assert claim is not None
        assert work.leases.requeue(claim, "The disk is full.")
    assert deaths() == 0
    with store.writing() as work:
        found = work.calibrations.find(job.id)
        assert found is not None
        found.not_before = 0
    with store.writing() as work:
        claim = work.leases.claim(job.id)
        assert claim is not None
        assert work.leases.requeue(claim, "The fitting process was killed.", process_died=True)
        # Who has lost the lease counts nothing.
        assert not work.leases.requeue(claim, "The fitting process was killed.", process_died=True)
    assert deaths() == 1
    with store.reading() as work:
        (row,) = work.audit.list(AuditFilter(object_id=job.id, action="calibration.process_died")).items
        assert row.details == {"attempt": 2}
        assert work.statistics.fit_deaths(3600) == 1
        assert work.statistics.fit_deaths(-60) == 0
    store.close()


def test_deaths_refusals_and_gauges(store: Store) -> None:
    metrics = Metrics(store)
    metrics.confined_process_died("graph")
    died = DataError("The file cannot be read.")
    died.__cause__ = SandboxError("was killed by SIGSEGV")
    for error in (died, SandboxError("was killed by SIGSEGV"), DataError("Row 3 is wrong.")):
        with pytest.raises(type(error)), metrics.counting_deaths("upload"):
            raise error
    metrics.refused("busy")
    metrics.bytes_in_flight.set_function(lambda: 12345)
    found = families(metrics.text().decode())
    deaths = found["certiset_confined_process_deaths"]
    totals = {s.labels["purpose"]: s.value for s in deaths.samples if s.name.endswith("_total")}
    assert totals == {"graph": 1, "upload": 2}
    assert value(found["certiset_request_bytes_in_flight"]) == 12345
    store.close()


def test_the_death_of_a_process_that_reads_an_upload_is_counted(server: Server, ada: httpx.Client) -> None:
    def deaths() -> float:
        with server.client("operator") as operator:
            found = families(operator.get("/metrics").text)["certiset_confined_process_deaths"]
        return sum(s.value for s in found.samples if s.name.endswith("_total") and s.labels["purpose"] == "upload")

    before = deaths()
    answer = ada.post("/datasets", files={"file": ("d.parquet", with_footer(CONTRADICTORY))})
    assert answer.status_code == 422
    assert deaths() == before + 1
    assert ada.post("/datasets", files={"file": ("d.csv", b"a,y\n1,x\n")}).status_code == 422
    assert deaths() == before + 1


def test_without_the_database_the_process_still_tells_what_it_has_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = Metrics(store)
    metrics.rows.inc(7)

    def away(self: Store) -> None:
        raise DatabaseUnavailableError("The database is unavailable.")

    monkeypatch.setattr(Store, "reading", away)
    found = families(metrics.text().decode())
    assert value(found["certiset_database_up"]) == 0
    assert "certiset_calibrations" not in found
    assert [s.value for s in found["certiset_rows"].samples if s.name == "certiset_rows_total"] == [7]
    store.close()
