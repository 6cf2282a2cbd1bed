"""Our fit against the paper's optimizer, CPU time as a ratio in one run: ``python -m benchmarks.fit_speed``.

The baseline is our own faithful augmented-Lagrangian path with the paper's settings (7 rounds of 2000 steps,
NeuralSort, batches of 100, the prior tuned for size, one run for each alpha_hat with its share of delta); ours is
`fit` with its defaults, all levels at once, 32 members. ``--share 0.1`` runs a tenth of the baseline's steps and says
so.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.reference_data import Problem, ReferenceMissingError, mnist, toy
from core.fit import Predictor, fit
from core.fit.options import GRID_SHARES

RESULTS = Path(__file__).parent.parent / "docs" / "results"
LEVELS = [round(0.1 * share, 12) for share in GRID_SHARES]


def measure(predictor: Predictor, problem: Problem) -> dict[str, float]:
    sets = predictor.predict_set(problem.test_x, generator=np.random.default_rng(0))
    return {
        "size": float(sets.size.mean()),
        "coverage": float(sets.contains(problem.test_y).mean()),
        "certified_size": float(predictor.certificate.efficiency.upper_bound or np.nan),
    }


def ours(problem: Problem) -> dict[str, float]:
    start = time.process_time()
    predictor = fit(problem.model, problem.x, problem.y, alpha=0.1, delta=0.05, members=32)
    return {"cpu_seconds": time.process_time() - start} | measure(predictor, problem)


def faithful(problem: Problem, share: float) -> dict[str, float]:
    """The best of one run a level, by its efficiency certificate; the time is that of all of them."""
    regression = problem.model.manifest.task == "regression"
    options: dict[str, Any] = {
        "guarantee": "posterior",
        "bound": "seeger",
        "prior": {
            "objective": "size",
            "train": "mean" if regression else "mean_variance",
            "scale": 0.02 if regression else 0.01,
            "steps": max(10, int(2000 * share)),
            "rate": 1e-3,
            "batch": 100,
        },
        "optimizer": {
            "kind": "augmented_lagrangian",
            "outer": 7,
            "steps": max(10, int(2000 * share)),
            "batch": 100,
            "quantile": "neural_sort",
            "measure": "log_radius" if regression else "size",
        },
    }
    count = len(LEVELS)
    runs, seconds = [], 0.0
    for level in LEVELS:
        start = time.process_time()
        run = fit(
            problem.model,
            problem.x,
            problem.y,
            alpha=0.1,
            delta=0.05 / count,
            gamma=0.05 / count,
            alpha_hat=level,
            members=32,
            **options,
        )
        seconds += time.process_time() - start
        runs.append(measure(run, problem))
        print(f"    alpha_hat = {level:g}: {seconds:.0f} CPU s so far", flush=True)
    return {"cpu_seconds": seconds / share} | min(runs, key=lambda run: run["certified_size"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="share of the baseline's steps to run")
    parser.add_argument("--only", choices=["toy", "mnist"], help="one of the two problems")
    options = parser.parse_args()
    torch.set_num_threads(1)
    try:
        problems = [] if options.only == "mnist" else [toy(500), toy(5000)]
        problems += [] if options.only == "toy" else [mnist(1000, 2023)]
    except ReferenceMissingError as error:
        raise SystemExit(str(error)) from None
    rows = []
    for problem in problems:
        print(problem.name, flush=True)
        quick, slow = ours(problem), faithful(problem, options.share)
        rows.append({"problem": problem.name, "share": options.share, "ours": quick, "paper": slow})
        ratio = slow["cpu_seconds"] / quick["cpu_seconds"]
        for name, run in (("ours", quick), ("paper's optimizer", slow)):
            numbers = (
                f"{run['cpu_seconds']:>9.1f} {run['certified_size']:>10.3f} {run['size']:>8.3f} {run['coverage']:>9.3f}"
            )
            print(f"  {name:<18}{numbers}", flush=True)
        print(
            f"  ratio of CPU times: {ratio:.0f}" + ("" if options.share == 1 else " (baseline extrapolated)"),
            flush=True,
        )
    RESULTS.mkdir(parents=True, exist_ok=True)
    name = f"fit_speed{'_' + options.only if options.only else ''}.json"
    (RESULTS / name).write_text(json.dumps({"torch": torch.__version__, "threads": 1, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
