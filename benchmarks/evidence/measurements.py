"""What is measured of a method on the test points."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.evidence.learning_problem import LearningProblem
from certiset.core.certificate.selection import Selection
from certiset.core.data.arrays import check_data
from certiset.core.errors import DataError
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
    """pairs (theta, tau), no two of them the same"""
    kl: float
    choice: str
    cpu_seconds: float
    kl_budget: float | None = None
    """that the posterior was kept within, of members that are drawn"""
    fresh_size: float | None = None
    """the mean size as certified on fresh inputs without truths"""


def test_rows(problem: LearningProblem) -> Rows:
    data = check_data(problem.model, problem.test_x, problem.test_y, allow_missing_classes=True)
    return on_device(problem.model, data, torch.device("cpu"), torch.float32)


def of_predictor(method: str, problem: LearningProblem, predictor: Predictor, cpu_seconds: float) -> Measured:
    """The mean over the members by their chance to answer, which is what the service gives on average."""
    certificate = predictor.certificate
    coverage, selection, first = certificate.coverage, certificate.selection, certificate.members[0]
    sizes, covered, radii = np.zeros(len(problem.test_x)), np.zeros(len(problem.test_x)), 0.0
    truths = problem.test_y.reshape(len(problem.test_y))
    for member, chance in enumerate(predictor.chances.tolist()):
        sets = predictor.predict_set(problem.test_x, member=member)
        size = np.asarray(sets.size, dtype=np.float64)
        sizes += chance * size
        covered += chance * np.asarray(sets.contains(truths), dtype=np.float64)
        radii += chance * _log_radius(size)
    pairs = {(theta.tobytes(), tau) for theta, tau in zip(predictor.theta.numpy(), predictor.tau.tolist(), strict=True)}
    choice = coverage.union.choices[coverage.union.taken] if selection is None else _chosen(selection, predictor)
    return _measured(
        method,
        problem,
        sizes,
        covered,
        log_radius=radii if problem.regression else None,
        certified_size=certificate.efficiency.upper_bound,
        level=first.k / ((first.n or coverage.n) + 1),
        members=len(pairs),
        kl=coverage.kl,
        choice=choice,
        cpu_seconds=cpu_seconds,
        kl_budget=coverage.kl_budget,
        fresh_size=_certified_on_fresh(problem, predictor) if selection is not None else None,
    )


def _chosen(selection: Selection, predictor: Predictor) -> str:
    told = selection.taken.partition(",")[0]
    return told if predictor.members == 1 else f"{told}, a pool of {predictor.members}"


def _certified_on_fresh(problem: LearningProblem, predictor: Predictor) -> float | None:
    """None where there are no fresh inputs, where all sets of a member have one size, or where no bound is worth it."""
    if problem.fresh is None:
        return None
    with suppress(DataError):
        return predictor.certify_size(problem.fresh).sizes.upper_bound
    return None


def _log_radius(sizes: NDArray[np.float64]) -> float:
    return float(np.log(np.maximum(sizes / 2, 1e-30)).mean())


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
    radius = _log_radius(size.numpy()) if problem.regression else None
    return _measured(method, problem, size.mean(dim=0).numpy(), hit.numpy(), log_radius=radius, **details)


def _measured(
    method: str,
    problem: LearningProblem,
    sizes: NDArray[np.float64],
    covered: NDArray[np.float64],
    *,
    log_radius: float | None,
    **details: Any,
) -> Measured:
    groups = problem.groups()
    return Measured(
        method=method,
        size=float(sizes.mean()),
        coverage=float(covered.mean()),
        log_radius=log_radius,
        group_coverage=[float(covered[groups == group].mean()) for group in np.unique(groups)],
        **details,
    )
