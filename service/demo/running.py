"""The demo's work, all of it over HTTP: upload, calibrate, measure what was promised, report what came true."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from service.client import Calibration, Certificate, Client, Predictions, Progress
from service.demo.problem import Problem

METHODS = ("standard", "learned", "pac_bayes")
ALPHA, DELTA = 0.1, 0.05
_OPTIONS: dict[str, dict[str, Any]] = {
    # Wider than any interval that is of use; without it, standard has no data to take a cap from.
    "toy": {"size_cap": 4.0},
    "digits": {},
}
_OUTCOMES = 200
"""test rows of which the demo tells the server what came true"""


@dataclass(frozen=True)
class Fit:
    problem: Problem
    method: str
    calibration: Calibration


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    problem: str
    method: str
    promised_coverage: float
    confidence: float
    measured_coverage: float
    standard_error: float
    """of the measured coverage, which has only so many rows"""
    mean_size: float
    certified_size: float | None
    measure: str
    """labels or width"""
    predictor_id: str
    certificate_id: str


class FailedFitError(Exception):
    """A calibration of the demo did not succeed."""


def start_fits(client: Client, problem: Problem) -> list[Fit]:
    """Uploads data and model and queues a fit by each method; what was done before is found again."""
    dataset = client.datasets.upload(x=problem.x, y=problem.y, name=problem.title)
    model = client.models.upload(problem.manifest, weights=problem.weights)
    return [Fit(problem, method, _start(client, problem, method, dataset.id, model.id)) for method in METHODS]


def _start(client: Client, problem: Problem, method: str, dataset: str, model: str) -> Calibration:
    options = {"alpha": ALPHA, "delta": DELTA, "method": method, "seed": 0, **_OPTIONS[problem.name]}
    content = json.dumps([dataset, model, options], sort_keys=True)
    key = f"demo-{hashlib.sha256(content.encode()).hexdigest()[:32]}"
    attempt = 0
    while True:
        attempt += 1
        name = f"demo: {problem.title}, {method}"
        found = client.calibrations.start(dataset, model, idempotency_key=f"{key}-{attempt}", name=name, **options)
        # One that was cancelled or has failed in an earlier demo is not taken for this one's.
        if found.status not in ("failed", "cancelled"):
            return found


def finish(client: Client, fit: Fit, on_progress: Callable[[Progress], object]) -> tuple[Calibration, Certificate]:
    ended = client.calibrations.wait(fit.calibration.id, on_progress)
    if ended.certificate_id is None:
        raise FailedFitError(f"The fit of {fit.problem.title} by {fit.method} {ended.status}: {ended.error or ''}")
    return ended, client.certificates.get(ended.certificate_id)


def measure(client: Client, fit: Fit, certificate: Certificate) -> Row:
    """Asks for the sets of all test rows, and counts how many contain the truth."""
    served = client.predict_set(certificate.predictor_id, fit.problem.test_x)
    _report(client, fit.problem, certificate.predictor_id, served)
    covered = served.contains(fit.problem.test_y)
    return Row(
        problem=fit.problem.name,
        method=fit.method,
        promised_coverage=1 - certificate.coverage.alpha,
        confidence=1 - certificate.coverage.delta,
        measured_coverage=float(covered.mean()),
        standard_error=float(covered.std() / np.sqrt(len(covered))),
        mean_size=float(served.size.mean()),
        certified_size=certificate.efficiency.upper_bound,
        measure=certificate.efficiency.measure,
        predictor_id=certificate.predictor_id,
        certificate_id=certificate.id,
    )


def _report(client: Client, problem: Problem, predictor: str, served: Predictions) -> None:
    """Once: the monitor judges independent outcomes, and the same rows again would not be."""
    if client.predictors.monitor(predictor).outcomes == 0:
        truths = zip(served[:_OUTCOMES], problem.test_y, strict=False)
        client.outcomes.report((row.prediction_id, truth) for row, truth in truths)
