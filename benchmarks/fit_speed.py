"""Our fit against the paper's optimizer, CPU time as a ratio in one run: ``python -m benchmarks.fit_speed``.

The baseline is our own faithful augmented-Lagrangian path with the paper's settings (7 rounds of 2000 steps,
NeuralSort, batches of 100, the prior tuned for size, each alpha_hat with its share of delta, all levels as one batch);
ours is `fit` with its defaults. ``--share 0.1`` runs a tenth of the baseline's steps, multiplies its time by ten, and
says so.
"""

import argparse
import json
from typing import Any

import torch

from benchmarks.evidence.baselines import Baseline, paper_settings
from benchmarks.evidence.learning_problem import LearningProblem
from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.ours import ours
from benchmarks.reference_data import RESULTS, ReferenceMissingError, mnist, toy
from certiset.core.fit import fit

_SPLIT = 0.5


def of_ours(problem: LearningProblem) -> dict[str, Any]:
    return _figures(ours(problem, 0))


def of_paper(problem: LearningProblem, share: float) -> dict[str, Any]:
    """The paper's Algorithm 1 by its own settings: the best level by certificate, the time of all levels."""
    settings = paper_settings(problem.regression, steps=max(10, int(2000 * share)))
    settings.prior["steps"] = max(10, int(2000 * share))
    (measured,) = Baseline(problem, _SPLIT, 0, settings).pac_bayes()
    figures = _figures(measured)
    return figures | {"cpu_seconds": figures["cpu_seconds"] / share}


def _figures(measured: Measured) -> dict[str, Any]:
    names = ("cpu_seconds", "certified_size", "size", "coverage")
    return {name: float(getattr(measured, name)) for name in names}


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
        fit(problem.model, problem.x, problem.y, prior={"steps": 5}, optimizer={"steps": 5}, members=2)  # warm up
        quick, slow = of_ours(problem), of_paper(problem, options.share)
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
