"""Metrics that the database knows, read when they are asked for: every replica reports the same."""

import time
from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from certiset.core.deployment_resources import EVENT_KINDS
from certiset.core.errors import StoreError
from certiset.core.store import Store
from certiset.core.store.records import STATUSES
from certiset.core.store.store import Transaction

_FIT_BUCKETS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0)
_HOUR = 3600.0
_MOST_LABELS = 100
"""tenants, or predictors, that have a line of their own"""
_COUNTED_SECONDS = 60.0
"""the audit log may be long, and is not counted more often than this"""


class StoreMetrics(Collector):
    def __init__(self, store: Store) -> None:
        self._store = store
        self._audit_rows = 0
        self._counted_at = -_COUNTED_SECONDS

    def collect(self) -> Iterator[Metric]:
        try:
            with self._store.reading() as work:
                found = [*self._calibrations(work), *self._certificates(work), *self._deployments(work)]
                found.append(self._audit(work))
        except StoreError:
            # What the process itself has counted is worth reading all the more now.
            found = []
        yield GaugeMetricFamily("certiset_database_up", "Whether the database answered just now.", value=bool(found))
        yield from found

    def _calibrations(self, work: Transaction) -> Iterator[Metric]:
        counts = work.calibrations.counts()
        calibrations = GaugeMetricFamily("certiset_calibrations", "Calibrations by status.", labels=["status"])
        for status in STATUSES:
            calibrations.add_metric([status], counts.get(status, 0))
        yield calibrations
        counts = work.batches.counts()
        batches = GaugeMetricFamily("certiset_batches", "Batches by status.", labels=["status"])
        for status in STATUSES:
            batches.add_metric([status], counts.get(status, 0))
        yield batches
        ages = work.statistics.queue_ages(_MOST_LABELS)
        name, text = "certiset_queue_age_seconds", "How long the oldest queued job has been waiting."
        yield GaugeMetricFamily(name, text, value=max(ages.values(), default=0.0))
        by_tenant = GaugeMetricFamily(
            "certiset_tenant_queue_age_seconds", f"{text[:-1]}, by tenant.", labels=["tenant"]
        )
        for tenant, age in ages.items():
            by_tenant.add_metric([tenant], age)
        yield by_tenant
        fits = HistogramMetricFamily(
            "certiset_fit_seconds", "Time from the first start of a calibration to its end.", labels=["status"]
        )
        for fit in work.statistics.fit_durations(_FIT_BUCKETS):
            buckets = [(str(bound), float(number)) for bound, number in zip(_FIT_BUCKETS, fit.within, strict=True)]
            fits.add_metric([fit.status], [*buckets, ("+Inf", float(fit.count))], fit.seconds)
        yield fits
        name, text = "certiset_fit_deaths_last_hour", "Fitting processes that died in the last hour."
        yield GaugeMetricFamily(name, text, value=work.statistics.fit_deaths(_HOUR))

    def _certificates(self, work: Transaction) -> Iterator[Metric]:
        name, text = "certiset_contradicted_certificates", "Certificates that outcomes contradict."
        yield GaugeMetricFamily(name, text, value=work.outcomes.contradicted())
        by_predictor = GaugeMetricFamily(
            "certiset_predictor_contradicted",
            "1 for each predictor whose certificate outcomes contradict.",
            labels=["tenant", "predictor"],
        )
        for tenant, predictor in work.statistics.contradicted(_MOST_LABELS):
            by_predictor.add_metric([tenant, predictor], 1)
        yield by_predictor

    def _deployments(self, work: Transaction) -> Iterator[Metric]:
        names, rows = work.statistics.deployments()
        yield GaugeMetricFamily("certiset_deployments", "Names that stand for predictors.", value=names)
        text = "Reported outcomes that wait to calibrate a deployment's next predictor."
        yield GaugeMetricFamily("certiset_deployment_rows", text, value=rows)
        counts = work.statistics.deployment_events(_HOUR)
        events = GaugeMetricFamily(
            "certiset_deployment_events_last_hour", "What happened to deployments in the last hour.", labels=["kind"]
        )
        for kind in EVENT_KINDS:
            events.add_metric([kind], counts.get(kind, 0))
        yield events

    def _audit(self, work: Transaction) -> Metric:
        if time.monotonic() - self._counted_at >= _COUNTED_SECONDS:
            self._audit_rows, self._counted_at = work.audit.rows(), time.monotonic()
        return GaugeMetricFamily("certiset_audit_rows", "Rows of the audit log.", value=self._audit_rows)
