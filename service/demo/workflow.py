"""The demo's steps, all over HTTP: upload, calibrate, measure coverage, report outcomes."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from certiset.core.certificate.rounding import promised_share
from certiset.core.errors import CertisetError
from certiset.service.client import Calibration, Certificate, Client, Predictions, Progress
from certiset.service.demo.problem import DemoProblem

METHODS = {
    "standard": "the model as it is; all rows calibrate",
    "learned": "tuned on half of the rows; the others calibrate",
    "pac_bayes": "the paper's: members drawn from a posterior, which is fitted to the rows that certify",
    "auto": "the default: some rows are looked at, and say which of these, or a pool that learns as it goes, to take",
}
"""by which each problem is calibrated, in a few words"""
DEFAULT = "auto"
_OUTCOMES = 200
"""test rows whose truth the demo reports to the server"""


@dataclass(frozen=True)
class Fit:
    problem: DemoProblem
    method: str
    calibration: Calibration


@dataclass(frozen=True)
class DemoResult:
    """What one fit promised, and what was measured: a line of the table."""

    problem: str
    method: str
    promised_coverage: float
    confidence: float
    measured_coverage: float
    standard_error: float
    """of the measured coverage"""
    mean_size: float
    certified_size: float | None
    measure: str
    """labels or width"""
    members: int
    kl: float
    """nats that a posterior spent; 0 without one"""
    kl_budget: float | None
    predictor_id: str
    certificate_id: str


class FailedFitError(CertisetError):
    """A calibration of the demo did not succeed."""

    code = "fit_failed"


def start_fits(client: Client, problem: DemoProblem) -> list[Fit]:
    """Uploads data and model and queues a fit by each method; earlier fits are reused."""
    dataset = client.datasets.upload(x=problem.x, y=problem.y, name=problem.title)
    model = client.models.upload(problem.manifest, weights=problem.weights)
    return [Fit(problem, method, _start(client, problem, method, dataset.id, model.id)) for method in METHODS]


def _start(client: Client, problem: DemoProblem, method: str, dataset: str, model: str) -> Calibration:
    options = {"method": method, **problem.options}
    content = json.dumps([dataset, model, options], sort_keys=True)
    key = f"demo-{hashlib.sha256(content.encode()).hexdigest()[:32]}"
    attempt = 0
    while True:
        attempt += 1
        name = f"{problem.title}: {method}"
        found = client.calibrations.start(dataset, model, idempotency_key=f"{key}-{attempt}", name=name, **options)
        # A calibration that failed or was cancelled in an earlier demo is not reused.
        if found.status not in ("failed", "cancelled"):
            return found


def finish(client: Client, fit: Fit, on_progress: Callable[[Progress], object]) -> tuple[Calibration, Certificate]:
    ended = client.calibrations.wait(fit.calibration.id, on_progress)
    if ended.certificate_id is None:
        raise FailedFitError(f"The fit of {fit.problem.title} by {fit.method} {ended.status}: {ended.error or ''}")
    return ended, client.certificates.get(ended.certificate_id)


def measure(client: Client, fit: Fit, certificate: Certificate) -> DemoResult:
    """Requests the sets of all test rows and counts how many contain the truth."""
    served = client.predict_set(certificate.predictor_id, fit.problem.test_x)
    _report(client, fit.problem, certificate.predictor_id, served)
    covered = served.contains(fit.problem.test_y)
    return DemoResult(
        problem=fit.problem.name,
        method=fit.method,
        promised_coverage=promised_share(certificate.coverage.alpha),
        confidence=promised_share(certificate.coverage.delta),
        measured_coverage=float(covered.mean()),
        standard_error=float(covered.std() / np.sqrt(len(covered))),
        mean_size=float(served.size.mean()),
        certified_size=certificate.efficiency.upper_bound,
        measure=certificate.efficiency.measure,
        members=len(certificate.document["members"]),
        kl=certificate.coverage.kl,
        kl_budget=certificate.coverage.kl_budget,
        predictor_id=certificate.predictor_id,
        certificate_id=certificate.id,
    )


def _report(client: Client, problem: DemoProblem, predictor: str, served: Predictions) -> None:
    """Only once: the monitor needs independent outcomes, and the same rows again would not be."""
    if client.predictors.monitor(predictor).outcomes == 0:
        truths = zip(served[:_OUTCOMES], problem.test_y, strict=False)
        client.outcomes.report((row.prediction_id, truth) for row, truth in truths)
