"""Our fit against the paper's optimizer, CPU time as a ratio in one run: ``python -m benchmarks.fit_speed``.

The baseline is our own faithful augmented-Lagrangian path with the paper's settings (7 rounds of 2000 steps,
NeuralSort, batches of 100, the prior tuned for size, one run for each alpha_hat with its share of delta); ours is
`fit` with its defaults, all levels at once, 32 members. ``--share 0.1`` runs a tenth of the baseline's steps and says
so.
"""

import argparse
import json
import time

import numpy as np
import torch

from benchmarks.reference_data import RESULTS, Problem, ReferenceMissingError, mnist, toy
from core.bounds import calibration_rank, efficiency_bound, kl_budget
from core.fit import Predictor, fit
from core.fit.calibration import GRID_POINTS, calibrate, size_cap
from core.fit.data import Rows, check_data, on_device
from core.fit.objectives import BatchSampler, size_loss
from core.fit.options import GRID_SHARES, FitOptions, read_options
from core.fit.scorer import Scorer, make_scorer
from core.fit.tuning import tune_priors
from core.posterior.augmented_lagrangian import minimise_augmented_lagrangian
from core.posterior.gaussian import DiagonalGaussian

MEMBERS = 32
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
    predictor = fit(problem.model, problem.x, problem.y, alpha=0.1, delta=0.05, members=MEMBERS)
    return {"cpu_seconds": time.process_time() - start} | measure(predictor, problem)


def faithful(problem: Problem, share: float) -> dict[str, float]:
    """The paper's Algorithm 1 by its own settings; the best level by efficiency certificate, the time of all of them.

    The prior is tuned once for all levels, and levels without a budget are skipped: both are kinder to the baseline
    than running every level from the start.
    """
    regression = problem.model.manifest.task == "regression"
    optimizer = {"batch": 100, "quantile": "neural_sort", "measure": "log_radius" if regression else "size"}
    prior = {
        "train": "mean" if regression else "mean_variance",
        "scale": 0.02 if regression else 0.01,
        "steps": max(10, int(2000 * share)),
        "rate": 1e-3,
        "batch": 100,
    }
    options = read_options(problem.model.manifest.task, {"prior": prior, "optimizer": optimizer})
    data = check_data(problem.model, problem.x, problem.y, allow_missing_classes=False)
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(data.y), generator=generator)
    rows = on_device(problem.model, data, torch.device("cpu"), torch.float32)
    tuning, kept = rows.take(order[: len(rows) // 2]), rows.take(order[len(rows) // 2 :])
    scorer = make_scorer(problem.model, options, options.score, tuned=True, features=rows.features.shape[1])
    start = time.process_time()
    (prior_,) = tune_priors(scorer, tuning, options, ["size"], generator, first_is_drawn_from=True)
    runs = []
    for level in LEVELS:
        run = _faithful_level(scorer, prior_, tuning, kept, level, options, share, generator, problem)
        runs += [run] if run is not None else []
        print(f"    alpha_hat = {level:g}: {time.process_time() - start:.0f} CPU s so far", flush=True)
    seconds = (time.process_time() - start) / share
    return {"cpu_seconds": seconds, "levels": len(runs)} | min(runs, key=lambda run: run["certified_size"])


def _faithful_level(
    scorer: Scorer,
    prior: DiagonalGaussian,
    tuning: Rows,
    kept: Rows,
    level: float,
    options: FitOptions,
    share: float,
    generator: torch.Generator,
    problem: Problem,
) -> dict[str, float] | None:
    n, part = len(kept), 0.05 / len(LEVELS)
    k = int(calibration_rank(n, level))
    budget = float(kl_budget(n, k, 0.1, part, "seeger"))
    if budget <= 0:
        return None
    loss = size_loss(scorer, BatchSampler(kept, 100, generator), [level], options.optimizer)
    inner = max(10, int(2000 * share))
    result = minimise_augmented_lagrangian(prior, [budget], loss, outer=7, inner=inner, generator=generator)
    noise = torch.randn(MEMBERS, scorer.parameters, generator=generator)
    theta = result.posterior[0].sample(noise)
    cap = size_cap(scorer, tuning, None)
    assert cap is not None
    calibrated = calibrate(scorer, theta, kept, [k] * MEMBERS, tuning=tuning, cap=cap)
    certified = cap * efficiency_bound(
        float(np.mean(calibrated.efficiency)),
        n,
        part / 2,
        result.kl[0],
        "grid_kl",
        grid_size=GRID_POINTS,
        draws=MEMBERS,
        gamma_monte_carlo=part / 2,
    )
    sizes, covered = _on_test(scorer, problem, theta, torch.tensor(calibrated.tau))
    return {"size": sizes, "coverage": covered, "certified_size": float(certified)}


@torch.no_grad()
def _on_test(scorer: Scorer, problem: Problem, theta: torch.Tensor, tau: torch.Tensor) -> tuple[float, float]:
    data = check_data(problem.model, problem.test_x, problem.test_y, allow_missing_classes=True)
    rows = on_device(problem.model, data, torch.device("cpu"), torch.float32)
    prediction = scorer.predict(theta, rows)
    covered = scorer.score.of_target(prediction, rows.y) <= tau.to(theta.dtype).unsqueeze(1)
    return float(scorer.score.size(prediction, tau.to(theta.dtype)).mean()), float(covered.double().mean())


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
