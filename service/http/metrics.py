"""Counts and times for Prometheus, in a registry of the app's own."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from certiset.core.store import Store
from certiset.core.store.records import STATUSES

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "certiset_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "certiset_request_seconds", "Time to answer.", ["route"], buckets=_BUCKETS, registry=self.registry
        )
        self.rows = Counter("certiset_rows", "Rows for which sets were served.", registry=self.registry)
        self.contradicted = Gauge(
            "certiset_contradicted_certificates", "Certificates that outcomes contradict.", registry=self.registry
        )
        self.calibrations = Gauge(
            "certiset_calibrations", "Calibrations by status.", ["status"], registry=self.registry
        )

        self._refused = Counter(
            "certiset_refused_requests",
            "Requests refused or failed, by code.",
            ["reason"],
            registry=self.registry,
        )
        self._children: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request more."""
        key = (method, route, status)
        children = self._children.get(key)
        if children is None:
            children = self._children[key] = (self.requests.labels(*map(str, key)), self.seconds.labels(route))
        children[0].inc()
        children[1].observe(seconds)

    def refused(self, reason: str) -> None:
        """One refusal more; ``reason`` is the code of a problem."""
        self._refused.labels(reason).inc()

    def text(self, store: Store) -> bytes:
        """Everything, with what the database knows as of now."""
        with store.reading() as work:
            self.contradicted.set(work.outcomes.contradicted())
            counts = work.calibrations.counts()
        for status in STATUSES:
            self.calibrations.labels(status).set(counts.get(status, 0))
        return generate_latest(self.registry)
