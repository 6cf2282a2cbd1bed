"""Calibration of a million rows and a whole fit by auto against the bare forward passes, and the time of a step over N.

``python -m benchmarks.million_rows``
"""

import json
import resource
import time
from typing import Any

import numpy as np
import torch

from benchmarks.reference_data import RESULTS
from certiset.core.bounds import vovk_2b
from certiset.core.fit import fit
from certiset.core.fit.objectives import BatchSampler, size_loss
from certiset.core.fit.optimizer_options import OptimizerOptions
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import ROWS_AT_ONCE, calibrate
from certiset.core.models import Model
from certiset.core.scores import make_score

ROWS, FEATURES, HIDDEN, CLASSES, MEMBERS = 1_000_000, 64, 128, 10, 32
STEPS = 100


def problem() -> tuple[Scorer, Rows, torch.Tensor]:
    rng = np.random.default_rng(0)
    widths = [FEATURES, HIDDEN, CLASSES]
    model = Model.from_manifest(
        {
            "task": "classification",
            "classes": CLASSES,
            "input_shape": [FEATURES],
            "head": {"kind": "mlp", "widths": widths, "activation": "relu"},
        },
        {
            "head.0.weight": rng.normal(size=(HIDDEN, FEATURES)) / 8,
            "head.0.bias": np.zeros(HIDDEN),
            "head.1.weight": rng.normal(size=(CLASSES, HIDDEN)) / 11,
            "head.1.bias": np.zeros(CLASSES),
        },
    )
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(ROWS, FEATURES, generator=generator)
    labels = torch.randint(CLASSES, (ROWS,), generator=generator)
    scorer = Scorer(model, make_score("log_prob"), tunes_head=True, scale=None)
    noise = 0.01 * torch.randn(MEMBERS, scorer.parameters, generator=generator)
    return scorer, Rows(features, torch.zeros(ROWS, CLASSES), labels), model.head_parameters + noise


@torch.no_grad()
def forward_passes(scorer: Scorer, rows: Rows, theta: torch.Tensor) -> float:
    start = time.perf_counter()
    for member in theta:
        for first in range(0, len(rows), ROWS_AT_ONCE):
            scorer.predict(member.unsqueeze(0), rows.slice(first, first + ROWS_AT_ONCE))
    return time.perf_counter() - start


def fit_by_auto(scorer: Scorer, rows: Rows) -> tuple[float, int]:
    """Seconds of the default fit on all rows, checks of the data included; and how many members it serves."""
    x, y = rows.features.numpy(), rows.y.numpy()
    start = time.perf_counter()
    predictor = fit(scorer.model, x, y)
    return time.perf_counter() - start, predictor.members


def main() -> None:
    scorer, rows, theta = problem()
    bare = forward_passes(scorer, rows, theta)
    tuning, kept = rows.slice(0, 1000), rows.slice(1000, ROWS)
    rank = int(vovk_2b(len(kept), 0.1, 0.05))
    start = time.perf_counter()
    calibrate(scorer, theta, kept, [rank] * MEMBERS, tuning=tuning, cap=float(CLASSES))
    whole = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{ROWS} rows x {FEATURES} features, {MEMBERS} members")
    print(f"bare forward passes {bare:.1f} s, scores, thresholds and sizes {whole:.1f} s: {whole / bare:.2f} x")
    print(f"peak memory {peak:.2f} GB")
    auto, members = fit_by_auto(scorer, rows)
    print(f"fit by auto, {members} member(s): {auto:.1f} s, {auto / bare:.2f} x the bare passes of {MEMBERS} members")
    options = OptimizerOptions()
    base = None
    report: dict[str, Any] = {
        "rows": ROWS,
        "members": MEMBERS,
        "forward_s": bare,
        "calibrate_s": whole,
        "auto_s": auto,
        "auto_members": members,
        "peak_gb": peak,
        "step_ms": {},
    }
    for count in (1000, 10_000, 100_000, ROWS):
        sampler = BatchSampler(rows.slice(0, count), options.batch, torch.Generator().manual_seed(0))
        loss = size_loss(scorer, sampler, [0.05], options)
        parameters = theta[:1].clone().requires_grad_(True)
        start = time.perf_counter()
        for _ in range(STEPS):
            torch.autograd.grad(loss(parameters.unsqueeze(0)).sum(), [parameters])
        step = (time.perf_counter() - start) / STEPS
        base = base or step
        report["step_ms"] |= {str(count): 1000 * step}
        print(f"N = {count:>8}: {1000 * step:.2f} ms per step, {step / base:.2f} x")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "million_rows.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
