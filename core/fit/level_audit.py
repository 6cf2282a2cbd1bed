"""The thresholds of all levels, recomputed from the data."""

import torch
from torch import Tensor

from certiset.core.bounds import simultaneous_grid
from certiset.core.certificate import Certificate, Check
from certiset.core.certificate.checks import equal
from certiset.core.fit.all_levels import all_thresholds
from certiset.core.fit.reference_rows import ReferenceRows
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import predict_rows

_PLACES = {torch.float32: 1e-4, torch.float64: 1e-9}
"""of the thresholds' own size: what another processor's order of summation may change"""


@torch.no_grad()
def level_audit(
    certificate: Certificate, scorer: Scorer, theta: Tensor, rows: Rows, reference: ReferenceRows | None
) -> list[Check]:
    """Nothing where the promise is for one level alone."""
    levels, coverage = certificate.levels, certificate.coverage
    if levels is None:
        return []
    ranks, _ = simultaneous_grid(coverage.n, coverage.share(coverage.delta), levels.alpha_max)
    if len(ranks) != len(levels.taus):
        return [equal("thresholds of all levels", len(levels.taus), len(ranks))]
    prediction = predict_rows(scorer, theta, rows)
    found = all_thresholds(scorer, prediction, theta, rows, ranks.tolist(), reference)
    taus = torch.tensor([*map(scorer.in_targets_unit, found.tau.double().tolist())], dtype=torch.float64)
    stated = torch.tensor(levels.taus, dtype=torch.float64)
    largest = float((taus - stated).abs().max())
    allowed = _PLACES[found.tau.dtype] * max(float(stated.abs().max()), float(taus.abs().median()))
    checks = [Check("thresholds of all levels", largest <= allowed, f"at most {allowed:.2g} apart", largest)]
    if levels.ties is not None:
        checks.append(equal("ties of all levels", levels.ties, None if found.tie is None else found.tie.tolist()))
    return checks
