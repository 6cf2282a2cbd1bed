"""One thread against all of them for a tuning step, over sizes of the head: ``python -m benchmarks.threads``.

`certiset.core.fit.threads` uses one thread below the crossover that this shows. Times are medians of short windows that
take turns, so that other work on the machine meets both alike; only their ratio means something.
"""

import argparse
import itertools
import json
import os
import time
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.reference_data import RESULTS
from certiset.core.fit.objectives import BatchSampler
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.threads import CROSSOVER
from certiset.core.models import Model
from certiset.core.posterior.optimizer import Adam
from certiset.core.scores import make_score

ROWS, CLASSES, BATCH = 2048, 10, 256
HEADS = ((16, 32), (64, 64), (256, 128), (512, 256), (512, 512), (1024, 1024), (2048, 2048))
"""features and hidden units"""
WINDOWS = 9
_WINDOW_SECONDS = 0.1


def problem(features: int, hidden: int) -> tuple[Scorer, Rows]:
    random = np.random.default_rng(0)
    widths = [features, hidden, CLASSES]
    weights = {}
    for place, (ins, outs) in enumerate(itertools.pairwise(widths)):
        weights[f"head.{place}.weight"] = random.normal(size=(outs, ins)) / ins**0.5
        weights[f"head.{place}.bias"] = np.zeros(outs)
    head = {"kind": "mlp", "widths": widths, "activation": "relu"}
    manifest = {"task": "classification", "classes": CLASSES, "input_shape": [features], "head": head}
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, features, generator=generator)
    rows = Rows(x, torch.zeros(ROWS, CLASSES), torch.randint(CLASSES, (ROWS,), generator=generator))
    return Scorer(Model.from_manifest(manifest, weights), make_score("log_prob"), tunes_head=True, scale=None), rows


class Tuning:
    """Steps by cross-entropy, as `certiset.core.fit.tuning` takes them."""

    def __init__(self, scorer: Scorer, rows: Rows) -> None:
        generator = torch.Generator().manual_seed(0)
        self.scorer, self.sampler = scorer, BatchSampler(rows, BATCH, generator, 0.0)
        self.theta = scorer.initial(generator).unsqueeze(0).clone().requires_grad_(True)
        self.adam = Adam([self.theta.data], [1e-3])

    def seconds_per_step(self, threads: int, steps: int) -> float:
        torch.set_num_threads(threads)
        start = time.perf_counter()
        for _ in range(steps):
            batch = self.sampler.next()
            loss = self.scorer.score.proper_loss(self.scorer.predict(self.theta, batch), batch.y, 0.1)
            self.adam.step(list(torch.autograd.grad(loss.sum(), [self.theta])))
        return (time.perf_counter() - start) / steps


def compare(features: int, hidden: int, threads: int, windows: int = WINDOWS) -> dict[str, Any]:
    """How long a step takes with one thread, and how many times as long with all."""
    scorer, rows = problem(features, hidden)
    tuning = Tuning(scorer, rows)
    steps = max(2, int(_WINDOW_SECONDS / min(tuning.seconds_per_step(1, 2) for _ in range(3))))
    times: dict[int, list[float]] = {count: [] for count in (1, threads)}
    for _ in range(windows):
        for count, found in times.items():
            found.append(tuning.seconds_per_step(count, steps))
    one, all_ = median(times[1]), median(times[threads])
    products = BATCH * scorer.parameters
    return {
        "parameters": scorer.parameters,
        "products": products,
        "one_thread_ms": 1000 * one,
        "ratio": all_ / one,
        "below_crossover": products <= CROSSOVER,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=WINDOWS, help="windows of each kind")
    options = parser.parse_args()
    threads, before = os.cpu_count() or 1, torch.get_num_threads()
    if threads < 2:
        raise SystemExit("There is one core: there is nothing to compare.")
    print(f"1 thread against {threads}; crossover at {CROSSOVER} products a step")
    found = []
    try:
        for features, hidden in HEADS:
            one = compare(features, hidden, threads, options.windows)
            found.append(one)
            told = "one thread" if one["below_crossover"] else "all threads"
            print(
                f"{one['parameters']:>9} parameters, {one['products']:>12} products: {one['one_thread_ms']:8.2f} ms, "
                f"{threads} threads take {one['ratio']:.2f} times as long; a fit uses {told}",
                flush=True,
            )
    finally:
        torch.set_num_threads(before)
    RESULTS.mkdir(parents=True, exist_ok=True)
    report = {"torch": torch.__version__, "threads": threads, "load": os.getloadavg()[0], "heads": found}
    (RESULTS / "threads.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
