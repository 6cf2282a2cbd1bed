"""What is measured of a method on the test points."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.evidence.learning_problem import LearningProblem
from certiset.core.data.arrays import check_data
from certiset.core.fit.predictor import Predictor
from certiset.core.fit.rows import Rows, on_device
from certiset.core.fit.scorer import Scorer


@dataclass(frozen=True)
class Measured:
    """One method on one problem."""

    method: str
    size: float
    """mean over the test points: labels, or width"""
    coverage: float
    log_radius: float | None
    """mean, of intervals"""
    group_coverage: list[float]
    """by class, or by tenth of the first input's range"""
    certified_size: float | None
    level: float
    """k / (n + 1), the empirical miscoverage of the (first) member"""
    members: int
    kl: float
    choice: str
    cpu_seconds: float


def test_rows(problem: LearningProblem) -> Rows:
    data = check_data(problem.model, problem.test_x, problem.test_y, allow_missing_classes=True)
    return on_device(problem.model, data, torch.device("cpu"), torch.float32)


def of_predictor(method: str, problem: LearningProblem, predictor: Predictor, cpu_seconds: float) -> Measured:
    """As the service would answer: each test point by one member, drawn at random (by a seed)."""
    sets = predictor.predict_set(problem.test_x, generator=np.random.default_rng(0))
    certificate = predictor.certificate
    coverage = certificate.coverage
    return _measured(
        method,
        problem,
        np.asarray(sets.size, dtype=np.float64),
        np.asarray(sets.contains(problem.test_y.reshape(len(problem.test_y))), dtype=np.float64),
        certified_size=certificate.efficiency.upper_bound,
        level=certificate.members[0].k / (coverage.n + 1),
        members=predictor.members,
        kl=coverage.kl,
        choice=coverage.union.choices[coverage.union.taken],
        cpu_seconds=cpu_seconds,
    )


@torch.no_grad()
def of_pairs(
    method: str, problem: LearningProblem, scorer: Scorer, theta: torch.Tensor, tau: list[float], **details: Any
) -> Measured:
    """Of pairs (theta, tau): the mean over all of them, which is what a random one gives on average."""
    rows, sizes, covered = test_rows(problem), [], []
    for member, threshold in zip(theta, tau, strict=True):
        prediction = scorer.predict(member.unsqueeze(0), rows)
        level = torch.tensor([threshold], dtype=theta.dtype)
        sizes.append(scorer.score.size(prediction, level)[0].double())
        covered.append((scorer.score.of_target(prediction, rows.y)[0] <= level).double())
    size, hit = torch.stack(sizes), torch.stack(covered).mean(dim=0)
    radius = float((0.5 * size).clamp(min=1e-30).log().mean()) if problem.regression else None
    return _measured(method, problem, size.mean(dim=0).numpy(), hit.numpy(), log_radius=radius, **details)


def _measured(
    method: str,
    problem: LearningProblem,
    sizes: NDArray[np.float64],
    covered: NDArray[np.float64],
    *,
    log_radius: float | None = None,
    **details: Any,
) -> Measured:
    if problem.regression and log_radius is None:
        log_radius = float(np.log(np.maximum(sizes / 2, 1e-30)).mean())
    groups = problem.groups()
    return Measured(
        method=method,
        size=float(sizes.mean()),
        coverage=float(covered.mean()),
        log_radius=log_radius,
        group_coverage=[float(covered[groups == group].mean()) for group in np.unique(groups)],
        **details,
    )
