"""What the search for a posterior step that pays says."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evidence.charts import save, series
from benchmarks.evidence.learning_problem import ALPHA, DELTA
from benchmarks.evidence.steps import LEVELS, OBJECTIVES, N
from benchmarks.evidence.summary import Mean, average, chosen, smallest, table
from certiset.core.bounds import largest_rank, per_draw_budget

_SIZES = (200, 500, 1000, 2500, 5000)


def report(result: dict[str, Any], folder: Path) -> str:
    runs = result["runs"]
    tuning = sorted({run["tuning"] for run in runs})
    tuned = [
        smallest(average(chosen(runs, method=f"tuned_{objective}", tuning=p)) for objective in OBJECTIVES)
        for p in tuning
    ]
    stepped = {level: [average(chosen(runs, method=f"step_{level:g}", tuning=p)) for p in tuning] for level in LEVELS}
    rows = [
        [str(points), _cell(one), *[_against(stepped[level][place], one) for level in LEVELS]]
        for place, (points, one) in enumerate(zip(tuning, tuned, strict=True))
    ]
    head = ["points in D_0", "tune, then Vovk 2b", *[f"tune, then step at {level:g}" for level in LEVELS]]
    lines = {"tune, then Vovk 2b": [_size(one) for one in tuned]}
    lines |= {f"step at {level:g}": [_size(one) for one in ones] for level, ones in stepped.items()}
    shown = [place for place, points in enumerate(tuning) if points]
    plot = series(
        {name: [line[place] for place in shown] for name, line in lines.items()},
        [tuning[place] for place in shown],
        title="Width over the points to tune on",
        x_label="points in D_0 (of 500)",
        y_label="width",
        log_x=True,
    )
    save(plot, folder / "steps" / "width.svg")
    return "\n".join(
        [
            _INTRODUCTION,
            table(head, rows),
            "Tuning is shown by the better of two objectives on test points; steps by each level. In brackets: against "
            "tuning on the same D_0.\n\n![width over D_0](steps/width.svg)\n",
            _verdict(tuning, tuned, stepped),
            "## What a nat costs\n\nThe rank k that n points allow without a step is allowed with a step of so many "
            "nats only if there are that many more points; as many could tune the parameters instead.\n\n"
            + table(["n", "rank k", "1 nat", "2 nats", "4 nats"], _prices()),
        ]
    )


def _verdict(tuning: list[int], tuned: list[Mean | None], stepped: dict[float, list[Mean | None]]) -> str:
    """In words: where a step wins on the same D_0, and who wins if each may choose its own."""
    told = []
    for level, ones in stepped.items():
        pairs = zip(tuning, ones, tuned, strict=True)
        wins = [str(points) for points, one, other in pairs if one and other and one.size < other.size]
        told.append(f"at {level:g} with {', '.join(wins) or 'no'} points in D_0")
    best_tuned = _smallest(tuned, tuning)
    best_step = min(_smallest(ones, tuning) for ones in stepped.values())
    return (
        f"On the same D_0 a step gives smaller sets than tuning alone {'; '.join(told)}. If each may choose its D_0, "
        f"tuning reaches {best_tuned[0]:.3f} (with {best_tuned[1]} points) and steps {best_step[0]:.3f} (with "
        f"{best_step[1]}).\n"
    )


def _smallest(means: list[Mean | None], tuning: list[int]) -> tuple[float, int]:
    return min((one.size, points) for one, points in zip(means, tuning, strict=True) if one is not None)


def _size(one: Mean | None) -> float:
    return float("nan") if one is None else one.size


def _against(one: Mean | None, other: Mean | None) -> str:
    if one is None or other is None:
        return "not possible"
    return f"{_cell(one)} ({100 * (one.size / other.size - 1):+.1f} %)"


_INTRODUCTION = f"""A sensor with an unknown gain and offset: y = 0.8 x + 0.7 + noise, where the model says x. Two
parameters mend that. N = {N}; the first few points (D_0) tune them, all others calibrate. Both ways have the whole of
delta; the step draws once from its posterior and is certified per draw.
"""


def _cell(one: Mean | None) -> str:
    return "not possible" if one is None else f"{one.size:.3f} ± {one.error:.3f}"


def _prices() -> list[list[str]]:
    """For each n: how many more points the rank that n allows would need to have some nats to spend."""
    rows = []
    for n in _SIZES:
        k = int(largest_rank(n, ALPHA, DELTA, bound="per_draw"))
        more = np.arange(n, 3 * n)
        budgets = np.asarray(per_draw_budget(more, np.full(more.shape, k), ALPHA, DELTA))
        prices = [str(int(np.argmax(budgets >= nats))) for nats in (1, 2, 4)]
        rows.append([str(n), str(k), *prices])
    return rows
