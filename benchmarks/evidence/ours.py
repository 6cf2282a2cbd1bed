"""Our methods as a user would run them, every option that is not named here at its default."""

import time
from contextlib import suppress
from typing import Any

from benchmarks.evidence.learning_problem import ALPHA, DELTA, LearningProblem
from benchmarks.evidence.measurements import Measured, of_predictor
from certiset.core.bounds import TooFewPointsError
from certiset.core.fit import fit


def fitted(name: str, problem: LearningProblem, *, seed: int, **options: Any) -> Measured:
    """By `certiset.core.fit.fit` with these options, all others by default."""
    start = time.process_time()
    predictor = fit(
        problem.model, problem.x, problem.y, alpha=ALPHA, delta=DELTA, seed=seed, allow_missing_classes=True, **options
    )
    return of_predictor(name, problem, predictor, time.process_time() - start)


def standard(problem: LearningProblem, seed: int) -> list[Measured]:
    """The score as it is, all points to calibrate; by each of Vovk's bounds that so many points allow."""
    found = []
    for bound in ("2a", "2b"):
        with suppress(TooFewPointsError):
            found.append(fitted(f"standard_{bound}", problem, seed=seed, method="standard", bound=f"vovk_{bound}"))
    return found


def ours(problem: LearningProblem, seed: int, **options: Any) -> Measured:
    """The default fit, which chooses on revealed rows what to tune, how far, and on how many rows."""
    return fitted("ours", problem, seed=seed, **options)


def learned(
    problem: LearningProblem, seed: int, split: float, name: str = "learned_proper", **options: Any
) -> Measured:
    """Tuned on a share of the points by cross-entropy (or Laplace likelihood), with our dropout; then Vovk 2b."""
    return fitted(name, problem, seed=seed, method="learned", prior={"split": split}, **options)


def drawn(problem: LearningProblem, seed: int) -> list[Measured]:
    """The paper's system by our per-draw bound: 32 pairs from a posterior; nothing where there is no budget."""
    with suppress(TooFewPointsError):
        return [fitted("drawn", problem, seed=seed, method="pac_bayes")]
    return []
