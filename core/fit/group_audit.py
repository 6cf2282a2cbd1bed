"""The groups of a certificate, recomputed from the rows: who is in which, their thresholds, and their sizes."""

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from certiset.core.certificate import Certificate, Check
from certiset.core.certificate.checks import equal
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.open_sizes import next_open_size
from certiset.core.certificate.sizes import GRID_BETTING
from certiset.core.data.arrays import CheckedData
from certiset.core.fit.class_sizes import sizes_by_class
from certiset.core.fit.group_measurement import grid_rows
from certiset.core.fit.group_pool import in_blocks
from certiset.core.fit.group_thresholds import ClassThresholds, mean_sizes_by_class
from certiset.core.fit.grouping import Grouping, make_grouping
from certiset.core.fit.options import FitOptions
from certiset.core.fit.pool_measurement import measure_pool
from certiset.core.fit.reference_rows import make_reference
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.splitting import Split
from certiset.core.fit.threshold_audit import threshold_checks
from certiset.core.fit.thresholds import calibrate, fixed_grid

_SIZE_PLACES = 1e-3
"""relative: one label of a few hundred rows may fall on the other side of its threshold"""


def audit_groups(
    certificate: Certificate, scorer: Scorer, theta: Tensor, rows: Rows, data: CheckedData, split: Split
) -> list[Check]:
    """What the certificate says of each group; ``rows`` are all rows, in their order."""
    groups = certificate.groups or []
    options = FitOptions.read(certificate.options or {})
    grouping = make_grouping(options, scorer.model, data, split.tuning, split.calibration)
    rule = scorer.rule.groups
    checks = [
        equal("groups", None if rule is None else rule.to_json(), grouping.rule.to_json()),
        equal("names of groups", [group.name for group in groups], [list(name) for name in grouping.rule.all_names]),
    ]
    if not all(check.ok for check in checks):
        return checks
    places = grouping.places(split.calibration)
    checks.append(equal("points of groups", [group.n for group in groups], [len(part) for part in places]))
    device, plain = rows.y.device, replace(scorer, rule=replace(scorer.rule, groups=None))
    if certificate.coverage.sizes is not None:
        of_blocks = in_blocks(grouping, split.calibration, certificate.coverage.sizes)
        return [*checks, *_pool(certificate, plain, theta, rows, data, of_blocks, grouping, split)]
    for group, part in zip(groups, places, strict=True):
        if not group.k:
            continue
        own, by_class = rows.take(part.to(device)), grouping.rule.by_class
        reference = None if by_class else make_reference(plain, data, part, theta.dtype)
        who = f"group {', '.join(group.name)}"
        checks += threshold_checks(who, plain, theta[0], own, reference, k=group.k, tau=group.tau, tie=group.tie)
    return [*checks, *_sizes(certificate, plain, theta, rows, places, grouping, split)]


def _pool(
    certificate: Certificate,
    scorer: Scorer,
    theta: Tensor,
    rows: Rows,
    data: CheckedData,
    places: list[list[Tensor]],
    grouping: Grouping,
    split: Split,
) -> list[Check]:
    """Thresholds of every group in each block, and its sizes on the last one."""
    groups, device, checks = certificate.groups or [], rows.y.device, []
    tuning = None if split.tuning is None else rows.take(split.tuning.to(device))
    codes = None if split.tuning is None else torch.from_numpy(grouping.codes[split.tuning.numpy()])
    weights, alpha, cap = certificate.coverage.rank_weights, certificate.coverage.alpha, certificate.efficiency.cap
    for place, (group, parts) in enumerate(zip(groups, places, strict=True)):
        blocks, name = group.blocks or [], ", ".join(group.name)
        checks.append(equal(f"points of group {name}", [block.n for block in blocks], [len(part) for part in parts]))
        if not group.k or not checks[-1].ok:
            continue
        for member, (block, part) in enumerate(zip(blocks, parts, strict=True)):
            checks += threshold_checks(
                f"group {name}, member {member}",
                scorer,
                theta[member],
                rows.take(part.to(device)),
                make_reference(scorer, data, part, theta.dtype),
                k=block.k,
                tau=block.tau,
                tie=block.tie,
            )
        tau, ties = [t for t, _ in group.thresholds()], [tie for _, tie in group.thresholds() if tie is not None]
        last, grid = rows.take(parts[-1].to(device)), grid_rows(tuning, codes, place)
        measured = measure_pool(scorer, theta, tau, last, grid, cap, alpha, ties)
        checks.append(_near(group, measured.mean(weights)))
        if group.efficiency is not None and cap is not None:
            found = float((np.minimum(measured.at_grid, cap) @ np.asarray(weights)).mean()) / cap
            # Counts are rounded up by less than a step.
            step = 1 / (certificate.efficiency.size_steps or 1)
            near = found * (1 - _SIZE_PLACES) <= group.efficiency <= found * (1 + _SIZE_PLACES) + step
            checks.append(Check(f"mean efficiency of group {name}", near, group.efficiency, found))
    return checks


def _sizes(
    certificate: Certificate,
    scorer: Scorer,
    theta: Tensor,
    rows: Rows,
    places: list[Tensor],
    grouping: Grouping,
    split: Split,
) -> list[Check]:
    groups, device = certificate.groups or [], rows.y.device
    tuning = None if split.tuning is None else rows.take(split.tuning.to(device))
    if grouping.rule.by_class:
        taus = [float("inf") if group.tau is None else group.tau for group in groups]
        ties = [group.tie or 0.0 for group in groups] if any(group.tie is not None for group in groups) else None
        thresholds = ClassThresholds(taus, ties, 0.0)
        own = rows.take(split.calibration.to(device))
        found = mean_sizes_by_class(scorer, theta[0], own, thresholds)
        each = [_near(group, size) for group, size in zip(groups, found, strict=True)]
        return each + _mean_size(certificate, scorer, theta[0], own, tuning, thresholds)
    codes = None if split.tuning is None else torch.from_numpy(grouping.codes[split.tuning.numpy()])
    checks: list[Check] = []
    for place, (group, part) in enumerate(zip(groups, places, strict=True)):
        if group.k:
            checks += _size(
                certificate, scorer, theta, rows.take(part.to(device)), grid_rows(tuning, codes, place), group
            )
    return checks


def _mean_size(
    certificate: Certificate,
    scorer: Scorer,
    theta: Tensor,
    rows: Rows,
    tuning: Rows | None,
    thresholds: ClassThresholds,
) -> list[Check]:
    """Of all sets together, where that is certified."""
    coverage, stated = certificate.coverage, certificate.members[0].efficiency_empirical
    if stated is None:
        return []
    share = coverage.share(coverage.delta)
    counted = sizes_by_class(scorer, theta, rows, tuning, thresholds, alpha=coverage.alpha, delta=share)
    found = math.inf if counted is None else counted[0].mean
    near = abs(found - stated) <= _SIZE_PLACES * max(found, stated)
    return [
        Check("mean efficiency of all classes", near, stated, found),
        equal("points of the grid", certificate.efficiency.grid_size, None if counted is None else counted[1]),
    ]


def _size(
    certificate: Certificate, scorer: Scorer, theta: Tensor, rows: Rows, tuning: Rows | None, group: Group
) -> list[Check]:
    efficiency, on_grid = certificate.efficiency, group.grid_size is not None
    cap = efficiency.cap
    found = calibrate(
        scorer,
        theta[:1],
        rows,
        [group.k],
        tuning=tuning if on_grid else None,
        cap=cap if group.efficiency is not None else None,
        fixed=fixed_grid(scorer, cap) if on_grid and tuning is None and cap is not None else [],
        size_ranks=[group.size_k or 0],
        sizes_at_grid=group.open_sizes is None,
        around=certificate.coverage.alpha if group.bound == GRID_BETTING else None,
    )
    checks = [_near(group, found.size[0])]
    if group.size_quantile is not None and found.size_quantile:
        size = found.size_quantile[0]
        named = size if group.open_sizes is None else next_open_size(efficiency.measure, cap, size)
        near = abs(named - group.size_quantile) <= _SIZE_PLACES * max(named, group.size_quantile)
        checks.append(Check(f"size quantile of group {', '.join(group.name)}", near, group.size_quantile, named))
    if group.efficiency is not None and found.efficiency:
        close = abs(found.efficiency[0] - group.efficiency) <= _SIZE_PLACES * max(found.efficiency[0], group.efficiency)
        name = f"mean efficiency of group {', '.join(group.name)}"
        checks.append(Check(name, close, group.efficiency, found.efficiency[0]))
    return checks


def _near(group: Group, found: float | None) -> Check:
    name, stated = f"mean size of group {', '.join(group.name)}", group.size
    if stated is None or found is None:
        return equal(name, stated, found)
    return Check(name, abs(stated - found) <= _SIZE_PLACES * max(stated, found), stated, found)
