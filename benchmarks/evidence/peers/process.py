"""All splits of one problem with one library, in its environment; the last line that is printed is the result, as JSON.

``python -m benchmarks.evidence.peers.process LIBRARY PROBLEM SPLITS FOLDER``
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import torch

from benchmarks.evidence.peers.measured import PeerMeasured
from benchmarks.evidence.peers.recipes import RECIPES, Recipe
from benchmarks.evidence.peers.splits import Split, split_of

_WINDOWS, _WINDOW_SECONDS, _MOST_CALLS = 3, 0.05, 500


def measure(library: str, problem: str, splits: int, kept: Path) -> list[PeerMeasured]:
    recipe, found = RECIPES[library][problem], []
    for seed in range(splits):
        split = split_of(problem, kept, seed)
        found += [_measured(library, recipe, promise, split, seed) for promise in recipe.promises]
    return found


def _measured(library: str, recipe: Recipe, promise: str, split: Split, seed: int) -> PeerMeasured:
    code = recipe.code(promise)
    scope: dict[str, Any] = {"model": split.model, "X": split.x, "y": split.y}
    exec(code.imports, scope)
    calibrate = compile(code.calibrate, "<recipe>", "exec")
    start = time.process_time()
    exec(calibrate, scope)
    seconds = time.process_time() - start
    sets = eval(f"lambda X_new: {code.sets}", scope)
    answers: list[Any] = []
    batch_us, model_batch_us = _microseconds(
        [lambda: answers.append(sets(split.test_x)), lambda: split.outputs(split.test_x)]
    )
    size, covered = recipe.judge(answers[0], split.test_y)
    row = split.test_x[:1]
    row_us, model_row_us = _microseconds([lambda: sets(row), lambda: split.outputs(row)])
    return PeerMeasured(
        seed=seed,
        method=library,
        promise=promise,
        lines=code.lines,
        size=float(size.mean()),
        coverage=float(covered.mean()),
        calibration_seconds=seconds,
        row_us=row_us,
        batch_us=batch_us / len(split.test_x),
        model_row_us=model_row_us,
        model_batch_us=model_batch_us / len(split.test_x),
    )


def _microseconds(calls: list[Callable[[], Any]]) -> list[float]:
    """CPU time of each call; windows of all of them take turns, so that other work on the machine meets all alike.

    A call that is longer than a window is timed once.
    """
    found = [[_seconds(call, 1)] for call in calls]
    counts = [min(_MOST_CALLS, int(_WINDOW_SECONDS / max(first[0], 1e-6))) for first in found]
    for _ in range(_WINDOWS):
        for times, call, count in zip(found, calls, counts, strict=True):
            if count:
                times.append(_seconds(call, count) / count)
    # The first call of several is the slowest, and is no window.
    return [1e6 * median(times[1:] or times) for times in found]


def _seconds(call: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - start


def main() -> None:
    library, problem, splits, folder = sys.argv[1:]
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # theirs, about words that will change
    print(json.dumps([asdict(one) for one in measure(library, problem, int(splits), Path(folder))]))


if __name__ == "__main__":
    main()
