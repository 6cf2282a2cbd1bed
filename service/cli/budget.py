"""``certiset budget``: how many nats a posterior may spend, and which ranks can be used, before any data are seen."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from certiset.core.bounds import (
    TooFewPointsError,
    calibration_rank,
    kl_budget,
    largest_rank,
    per_draw_budget,
    smallest_n_2a,
    smallest_n_2b,
    vovk_2a,
)
from certiset.core.fit.options import GRID_SHARES
from certiset.service.cli.errors import CommandError, written_to
from certiset.service.cli.fit_flags import default_of
from certiset.service.cli.group_budget import group_budget
from certiset.service.cli.parsers import add_command

_EXAMPLES = """examples:
  certiset budget --n 1000 --alpha 0.1 --delta 0.05
  certiset budget --n 1000 --alpha 0.1 --delta 0.05 --alpha-hat 0.03 0.05 0.07
  certiset budget --n 1000 --alpha 0.1 --delta 0.05 --json
  certiset budget --n 1000 --alpha 0.1 --delta 0.05 --plot budget.svg
  certiset budget --groups north=2000 south=400 east=20
  certiset budget --groups region --dataset rows.csv

exit codes: 0 done, 2 bad input
"""


@dataclass(frozen=True)
class BudgetRow:
    """One level of the grid."""

    alpha_hat: float
    k: int
    seeger: float | None
    chernoff: float | None
    per_draw: float | None


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "budget",
        "For each empirical miscoverage alpha_hat: the calibration rank k and the KL budget, in nats, that "
        "each bound leaves a posterior while it promises a miscoverage of at most alpha with probability 1 - delta.",
        _EXAMPLES,
    )
    parser.add_argument("--n", type=_whole, help="number of calibration points")
    alpha, delta = default_of("alpha"), default_of("delta")
    parser.add_argument("--alpha", type=_number, default=alpha, help=f"promised miscoverage (default {alpha})")
    parser.add_argument("--delta", type=_number, default=delta, help=f"chance that the promise fails (default {delta})")
    parser.add_argument(
        "--alpha-hat",
        type=_number,
        nargs="+",
        metavar="LEVEL",
        help="levels to show (default: those of a fit's grid, from 0.2 alpha to 0.8 alpha)",
    )
    parser.add_argument(
        "--groups",
        nargs="+",
        metavar="ROWS",
        help="instead of --n: the rows of each group that has a threshold of its own, as numbers or NAME=ROWS, or with "
        "--dataset the columns that name the groups; shows each one's rank, and the rows that small ones lack",
    )
    parser.add_argument("--dataset", type=Path, metavar="FILE", help="a table with the columns of --groups")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="also plot the budgets over n and over delta (.svg, .png, .pdf)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    n, alpha, delta = options.n, options.alpha, options.delta
    if (n is None) == (options.groups is None):
        raise CommandError("give --n, or --groups.")
    if options.groups is not None:
        print(group_budget(options.groups, options.dataset, alpha, delta, as_json=options.json))
        return 0
    levels = options.alpha_hat or [round(alpha * share, 12) for share in GRID_SHARES]
    ranks = usable_ranks(n, alpha, delta)
    rows = grid_rows(n, alpha, delta, levels)
    if options.plot is not None:
        _draw(options.plot, n, alpha, delta)
    if options.json:
        print(json.dumps(_as_json(n, alpha, delta, rows, ranks), indent=2))
    else:
        print(_as_table(n, alpha, delta, rows, ranks))
        if options.plot is not None:
            print(f"\nThe figure is in {options.plot}.")
    return 0


def grid_rows(n: int, alpha: float, delta: float, levels: Sequence[float]) -> list[BudgetRow]:
    """A row for each level; rank 0 and no budgets where n is too small for the level."""
    return [_row(n, alpha, delta, level) for level in levels]


def usable_ranks(n: int, alpha: float, delta: float) -> dict[str, int]:
    """The largest rank that each bound promises for the prior itself; 0 where there is none."""
    return {
        "vovk_2a": _rank_2a(n, alpha, delta),
        "seeger": int(largest_rank(n, alpha, delta, bound="seeger")),
        "chernoff": int(largest_rank(n, alpha, delta, bound="chernoff")),
        "per_draw": int(largest_rank(n, alpha, delta, bound="per_draw")),
        "vovk_2b": int(largest_rank(n, alpha, delta, bound="per_draw")),
    }


def _row(n: int, alpha: float, delta: float, level: float) -> BudgetRow:
    try:
        k = int(calibration_rank(n, level))
    except TooFewPointsError:
        return BudgetRow(level, 0, None, None, None)
    return BudgetRow(
        level,
        k,
        float(kl_budget(n, k, alpha, delta, "seeger")),
        float(kl_budget(n, k, alpha, delta, "chernoff")),
        float(per_draw_budget(n, k, alpha, delta)),
    )


def _rank_2a(n: int, alpha: float, delta: float) -> int:
    try:
        return int(calibration_rank(n, vovk_2a(n, alpha, delta)))
    except TooFewPointsError:
        return 0


def _as_json(n: int, alpha: float, delta: float, rows: list[BudgetRow], ranks: dict[str, int]) -> dict[str, Any]:
    return {
        "n": n,
        "alpha": alpha,
        "delta": delta,
        "grid": [asdict(row) for row in rows],
        "largest_rank": ranks,
        "smallest_n": {"vovk_2a": smallest_n_2a(alpha, delta), "vovk_2b": smallest_n_2b(alpha, delta)},
    }


def _as_table(n: int, alpha: float, delta: float, rows: list[BudgetRow], ranks: dict[str, int]) -> str:
    lines = [
        f"n = {n}, alpha = {alpha:g}, delta = {delta:g}",
        "",
        "KL budget in nats (negative: not even the prior can be promised alpha)",
        f"{'alpha_hat':>10} {'k':>9} {'seeger':>12} {'chernoff':>12} {'per draw':>12}",
    ]
    for row in rows:
        budgets = [_cell(value) for value in (row.seeger, row.chernoff, row.per_draw)]
        lines.append(f"{row.alpha_hat:>10.6g} {row.k:>9} " + " ".join(f"{cell:>12}" for cell in budgets))
    lines += ["", "Largest usable rank at KL = 0", f"{'bound':>10} {'k':>9} {'k / (n+1)':>12}"]
    for name, k in ranks.items():
        label = name.replace("_", " ")
        lines.append(f"{label:>10} {k:>9} {k / (n + 1):>12.6f}" if k else f"{label:>10} {'none':>9}")
    if not ranks["vovk_2b"]:
        lines += [
            "",
            f"n = {n} is too few: at least {smallest_n_2b(alpha, delta)} calibration points are needed.",
        ]
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _draw(file: Path, n: int, alpha: float, delta: float) -> None:
    from certiset.service.figures.budget import draw_budgets  # noqa: PLC0415 (matplotlib takes a second)

    with written_to(file):
        draw_budgets(file, n, alpha, delta)


def _whole(text: str) -> int:
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number.") from None
    if not np.isfinite(value) or value != int(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number.")
    return int(value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number.") from None
