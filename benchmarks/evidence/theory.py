"""The budget figure: how far a posterior may leave its prior, over alpha_hat and n, and over delta."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evidence.learning_problem import ALPHA, DELTA
from benchmarks.evidence.summary import table
from certiset.core.bounds import calibration_rank, kl_budget, largest_rank, per_draw_budget, vovk_2a
from certiset.core.fit.options import GRID_SHARES
from certiset.service.figures.budget import draw_budgets

SIZES, QUICK_SIZES = (100, 250, 500, 1000, 2500, 5000, 10_000), (250, 1000)
_FIGURE_N = 1000


def measure(quick: bool) -> list[dict[str, Any]]:
    """For each n: the largest usable level of each bound, and the budgets at the paper's five levels."""
    rows: list[dict[str, Any]] = []
    for n in QUICK_SIZES if quick else SIZES:
        largest = {
            bound: int(largest_rank(n, ALPHA, DELTA, bound=bound)) for bound in ("seeger", "chernoff", "per_draw")
        }
        hoeffding = ALPHA - np.sqrt(np.log(1 / DELTA) / (2 * n))
        largest["vovk_2a"] = int(calibration_rank(n, vovk_2a(n, ALPHA, DELTA))) if (n + 1) * hoeffding >= 1 else 0
        budgets = []
        for share in GRID_SHARES:
            if (n + 1) * ALPHA * share < 2:
                continue
            k = int(calibration_rank(n, ALPHA * share))
            budgets.append(
                {
                    "alpha_hat": round(ALPHA * share, 6),
                    "k": k,
                    "seeger": float(kl_budget(n, k, ALPHA, DELTA, "seeger")),
                    "chernoff": float(kl_budget(n, k, ALPHA, DELTA, "chernoff")),
                    "per_draw": float(per_draw_budget(n, k, ALPHA, DELTA)),
                }
            )
        rows.append({"n": n, "largest_k": largest, "budgets": budgets})
    return rows


def report(result: dict[str, Any], folder: Path) -> str:
    (folder / "theory").mkdir(parents=True, exist_ok=True)
    draw_budgets(folder / "theory" / "budget.svg", _FIGURE_N, ALPHA, DELTA)
    bounds = ("vovk_2a", "seeger", "chernoff", "per_draw")
    levels = [
        [
            str(row["n"]),
            *[f"{row['largest_k'][bound] / (row['n'] + 1):.3f} ({row['largest_k'][bound]})" for bound in bounds],
        ]
        for row in result["runs"]
    ]
    budgets = [
        [str(row["n"]), f"{one['alpha_hat']:g}", *[f"{one[bound]:.2f}" for bound in bounds[1:]]]
        for row in result["runs"]
        for one in row["budgets"]
    ]
    return "\n".join(
        [
            "The larger the level, the smaller the sets; the larger the budget, the further a posterior may leave its "
            "prior. A negative budget: not even the prior itself may be served at that level.\n",
            "![budgets](theory/budget.svg)\n",
            "## Largest usable alpha_hat (and rank k) without leaving the prior\n",
            table(["n", "Vovk 2a", "seeger (the paper)", "chernoff", "per draw = Vovk 2b"], levels),
            "## KL budget in nats\n",
            table(["n", "alpha_hat", "seeger (the paper)", "chernoff", "per draw"], budgets),
        ]
    )
