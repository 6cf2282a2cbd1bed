"""One threshold of a certificate, recomputed from the rows that it was calibrated on."""

import torch
from torch import Tensor

from certiset.core.certificate import Check
from certiset.core.certificate.checks import equal
from certiset.core.fit.reference_rows import ReferenceRows
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer, times_power_of_two
from certiset.core.fit.thresholds import predict_rows
from certiset.core.fit.ties import Threshold

_PLACES = {torch.float32: 1e-4, torch.float64: 1e-9}
"""of the scores' own size: what another processor's order of summation may change, and no more"""


def threshold_checks(
    who: str,
    scorer: Scorer,
    theta: Tensor,
    rows: Rows,
    reference: ReferenceRows | None,
    *,
    k: int,
    tau: float | None,
    tie: float | None,
) -> list[Check]:
    """It is the order statistic of its rank of the rows' scores, and as many truths as that are within it."""
    n = len(rows)
    if not 1 <= k <= n:
        return [Check(f"rank of {who}", False, f"from 1 to {n}", k)]
    if tau is None:
        return [Check(f"threshold of {who}", False, "a number", None)]
    prediction = predict_rows(scorer, theta, rows)
    scores = scorer.score.of_target(prediction, rows.y)[0]
    ties = scorer.rule.ties
    smallest, found_tie = ties.threshold(scores, rows, k)
    rounding = scorer.score.rounding(prediction, smallest)
    if reference is not None:
        rounding = rounding.clamp(min=reference.slack(theta, scores))
    found = scorer.in_targets_unit(float(smallest + rounding))
    usual = scorer.in_targets_unit(float(scores.abs().median()))
    allowed = _PLACES[scores.dtype] * max(abs(found), usual)
    stated = torch.tensor([tau + allowed], dtype=torch.float64, device=scores.device)
    at_most = Threshold(stated, None if tie is None else torch.tensor([tie], dtype=torch.float64))
    within = int(ties.within(times_power_of_two(scores.double(), scorer.exponent), rows, at_most).sum())
    return [
        *([] if found_tie is None else [equal(f"tie of {who}", float(found_tie), tie)]),
        Check(f"threshold of {who}", abs(found - tau) <= allowed, tau, found),
        Check(f"truths within the threshold of {who}", within >= n + 1 - k, f"at least {n + 1 - k} of {n}", within),
    ]
