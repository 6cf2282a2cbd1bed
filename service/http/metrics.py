"""Counts and times for Prometheus, in a registry of the app's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from certiset.core.errors import CertisetError
from certiset.core.sandbox import SandboxError
from certiset.core.store import Store
from certiset.service.http.store_metrics import StoreMetrics

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """What this process counts. A gauge with a source (``set_function``) reads it when somebody asks."""

    def __init__(self, store: Store) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "certiset_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "certiset_request_seconds", "Time to answer.", ["route"], buckets=_BUCKETS, registry=registry
        )
        self.rows = Counter("certiset_rows", "Rows for which sets were served.", registry=registry)
        self.waiting_numbers = Gauge(
            "certiset_inference_waiting_numbers",
            "Numbers, of inputs and outputs, that wait for inference.",
            registry=registry,
        )
        self.event_streams = Gauge("certiset_event_streams", "Event streams that are open.", registry=registry)
        self.bytes_in_flight = Gauge(
            "certiset_request_bytes_in_flight", "Bytes of requests' bodies that are held in memory.", registry=registry
        )
        self.batch_process = Gauge(
            "certiset_batch_process", "Whether there is a process for large requests (0 or 1).", registry=registry
        )
        self._refused = Counter(
            "certiset_refused_requests", "Requests refused or failed, by code.", ["reason"], registry=registry
        )
        self._deaths = Counter(
            "certiset_confined_process_deaths",
            "Confined processes that died or were killed, by what they were for.",
            ["purpose"],
            registry=registry,
        )
        registry.register(StoreMetrics(store))
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

    def confined_process_died(self, purpose: str) -> None:
        """One death more; ``purpose`` is what such processes are for: graph, upload or body."""
        self._deaths.labels(purpose).inc()

    @contextmanager
    def counting_deaths(self, purpose: str) -> Iterator[None]:
        """Counts the death of a confined process that ends the block, as itself or as the cause of another error."""
        try:
            yield
        except CertisetError as error:
            if isinstance(error, SandboxError) or isinstance(error.__cause__, SandboxError):
                self.confined_process_died(purpose)
            raise

    def text(self) -> bytes:
        """Everything, with what the database knows as of now."""
        return generate_latest(self.registry)
