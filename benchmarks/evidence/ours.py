"""Our fit, and the standard method, as a user would run them."""

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


def ours(problem: LearningProblem, seed: int, split: float, name: str = "ours", **options: Any) -> Measured:
    """The default fit, which chooses its split itself; with a method's name, that method at the given split."""
    fixed = {"split": split} if "method" in options else {}
    return fitted(name, problem, seed=seed, prior={**fixed, **options.pop("prior", {})}, **options)
