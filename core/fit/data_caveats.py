"""What the given rows say about the assumption that they are independent draws: for the certificate, and as caveats."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from certiset.core.certificate.content import Caveat, Data
from certiset.core.certificate.data_checks import ORDER_LEVEL
from certiset.core.certificate.population import EQUAL_ROWS
from certiset.core.certificate.shift import ESTIMATED, TARGET
from certiset.core.data.arrays import CheckedData
from certiset.core.data.row_hashes import equal_row_codes
from certiset.core.data.similar_rows import SimilarRows, find_similar_rows
from certiset.core.fit.options import FitOptions
from certiset.core.fit.order_test import order_p_value
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.splitting import count_units
from certiset.core.fit.target_rows import TargetRows

_ROWS_AT_ONCE = 65_536
_FOLLOWING = (
    "The latest rows calibrate, as order asks. Rows that follow each other are not independent draws, and what comes "
    "later may differ from the latest rows: calibrate again as time goes on, and report outcomes, by which the monitor "
    "sees when the promise no longer holds."
)


@dataclass(frozen=True)
class Findings:
    data: Data
    caveats: list[Caveat]


def examine(
    data: CheckedData,
    in_sequence: Tensor,
    rows: Rows,
    options: FitOptions,
    as_given: Scorer,
    target: TargetRows | None = None,
) -> Findings:
    """Equal and nearly equal rows, and whether rows that come later are like those before.

    Where rows belong together, one of each cluster is looked at: those of one cluster may be alike. ``in_sequence`` are
    the places of these rows in their order, ``as_given`` scores by the model as it came. ``target`` says of how many
    rows these were chosen, if they were.
    """
    units, unit = count_units(data)
    clustered = unit == "clusters"
    looked_at = in_sequence.numpy() if clustered else slice(None)
    similar = find_similar_rows(data.x[looked_at], data.y[looked_at])
    distinct = len(np.unique(equal_row_codes(data.x))) if clustered else similar.distinct
    p_value = _order_p_value(in_sequence, rows, options, as_given)
    return Findings(
        Data(
            rows=len(data.y) if target is None else target.rows,
            columns=data.columns,
            distinct_rows=distinct if target is None else target.distinct_rows,
            clusters=units if clustered else None,
            cluster_column=options.clusters,
            order_p_value=p_value,
        ),
        [
            *_similar(similar, clustered, options.clusters),
            *_order(p_value, ordered=data.times is not None),
            *([Caveat("estimated_weights", ESTIMATED)] if target is not None and target.shift.kind == TARGET else []),
        ],
    )


@torch.no_grad()
def _order_p_value(in_sequence: Tensor, rows: Rows, options: FitOptions, as_given: Scorer) -> float:
    """By the score of the model as given: a tuned one would treat the rows that it was tuned on in another way."""
    nothing = torch.zeros(1, 0, device=rows.y.device, dtype=rows.features.dtype)
    chosen = in_sequence.to(rows.y.device)
    parts = [rows.take(part) for part in torch.split(chosen, _ROWS_AT_ONCE)]
    scores = torch.cat([as_given.score.of_target(as_given.predict(nothing, part), part.y)[0] for part in parts])
    truths = rows.y[chosen].reshape(len(chosen), -1)[:, 0]
    return order_p_value(scores.double().cpu().numpy(), truths.double().cpu().numpy(), options.seed)


def _similar(found: SimilarRows, clustered: bool, clusters: str | None) -> list[Caveat]:
    what = "one row of each cluster" if clustered else "the rows"
    copies = (
        'If rows were copied, calibrate with clusters: "equal_rows"; if several rows come from one patient, machine or '
        'video, name the column that says so, such as clusters: "patient".'
    )
    caveats = []
    if found.equal and clusters != EQUAL_ROWS:
        caveats.append(
            Caveat(
                "equal_rows",
                f"{_percent(found.equal)} of {what} have an equal one, which independent draws would not: the promise "
                f"counts each row as new evidence, and may be false. {copies}",
            )
        )
    if found.near:
        caveats.append(
            Caveat(
                "near_equal_rows",
                f"{_percent(found.near)} of {what} are nearly equal to others, far nearer than independent draws "
                f"would be: the promise counts each row as new evidence, and may be false. {copies}",
            )
        )
    return caveats


def _order(p_value: float, *, ordered: bool) -> list[Caveat]:
    caveats = [Caveat("order_of_time", _FOLLOWING)] if ordered else []
    if p_value < ORDER_LEVEL:
        caveats.append(
            Caveat(
                "order",
                "The order of the rows means something: along it the model's scores or the truths change, or are alike "
                f"in neighbouring rows, by more than chance would do (p = {p_value:.1g}). If it is the order of time, "
                "future rows will differ, too, and more may be missed than is promised: calibrate on recent rows, or "
                "with order and a column of times. If neighbouring rows belong together, name their clusters. If rows "
                "were only sorted, for instance by class, nothing is wrong.",
            )
        )
    return caveats


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "All"
