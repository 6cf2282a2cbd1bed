"""A certificate recomputed from the data, the model and the members: each number that was measured, measured again."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from certiset.core.bounds import TooFewPointsError
from certiset.core.certificate import Certificate, Check
from certiset.core.certificate.checks import equal
from certiset.core.certificate.content import Efficiency
from certiset.core.certificate.guarantees import GUARANTEES, guarantee_of
from certiset.core.certificate.open_sizes import next_open_size
from certiset.core.certificate.sizes import GRID_BETTING
from certiset.core.certificate.stored_thresholds import stated_thresholds, stated_ties
from certiset.core.errors import DamagedFileError
from certiset.core.fit.audited_rows import audited_rows, unreadable_role
from certiset.core.fit.group_audit import audit_groups
from certiset.core.fit.level_audit import level_audit
from certiset.core.fit.methods import METHODS
from certiset.core.fit.options import FitOptions
from certiset.core.fit.pool_measurement import measure_pool
from certiset.core.fit.reference_rows import ReferenceRows, make_reference
from certiset.core.fit.rows import Rows, on_device
from certiset.core.fit.saved_predictor import file_checks, read_tensors
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.serialization import scorer_of
from certiset.core.fit.set_rules import make_rule
from certiset.core.fit.splitting import count_units, split
from certiset.core.fit.threshold_audit import threshold_checks
from certiset.core.fit.thresholds import calibrate, fixed_grid, size_cap
from certiset.core.models import Model

_CHOICE_OF_BEFORE = "no posterior step"
"""how choices began in versions that shared delta among more of them, which are not planned again"""
_SIZE_PLACES = 1e-3
"""relative: one label of a few hundred rows may fall on the other side of its threshold"""


def audit(
    certificate: Certificate,
    model: Model,
    x: Any,
    y: Any,
    file: Path,
    description: Mapping[str, Any],
    device: str = "cpu",
    target: Any = None,
) -> list[Check]:
    """What agrees with the certificate and what does not, line by line.

    ``x`` is an array, or a frame with the columns that the options name; ``file`` and ``description`` are the
    predictor's; ``target`` are the inputs that weights were estimated from. What can be recomputed is, also where
    something before it differs.
    """
    provenance = certificate.provenance
    unreadable = unreadable_role(certificate, target)
    if unreadable is not None:
        return [unreadable]
    data, target_rows = audited_rows(certificate, model, x, y, target, device)
    checks = [
        equal("data's SHA-256", provenance.dataset_sha256, data.sha256 if target_rows is None else target_rows.sha256),
        equal("model's SHA-256, of the model given", provenance.model_sha256, model.sha256),
        *file_checks(file, description, certificate),
    ]
    used = provenance.n_tune + provenance.n_calibrate
    units, unit = count_units(data)
    theta = torch.from_numpy(read_tensors(file)["members.theta"]).to(device)
    sound = [equal(unit, used, units), equal("members in the file", len(certificate.members), len(theta))]
    if not all(check.ok for check in sound):
        return [*checks, *sound]
    try:
        scorer = scorer_of(model, description["scoring"])
    except (KeyError, TypeError) as error:
        raise DamagedFileError(f"{file} does not say how it is to be read: {error}.") from None
    misfit = _misfit(certificate, scorer)
    if misfit is not None:
        return [*checks, misfit]
    rows = on_device(model, data, torch.device(device), theta.dtype, scorer.exponent)
    rows = replace(rows, digests=scorer.rule.ties.digests(data.x, theta.dtype))
    parts = split(provenance.seed, provenance.n_tune, data)
    tuning = None if parts.tuning is None else rows.take(parts.tuning.to(device))
    calibration = rows.take(parts.calibration.to(device))

    @cache
    def points(block: range) -> tuple[Rows, ReferenceRows | None]:
        # Fits of format 1 took the score's word for the rounding.
        places = parts.calibration[block.start : block.stop]
        reference = None if certificate.format == 1 else make_reference(scorer, data, places, theta.dtype)
        return calibration.slice(block.start, block.stop), reference

    guarantee = guarantee_of(certificate.coverage)
    blocks = guarantee.blocks(certificate)
    if blocks[-1].stop != len(calibration):
        return [*checks, equal("points that calibrate", blocks[-1].stop, len(calibration))]
    if certificate.groups is not None:
        plan = [*_plan(certificate, units), *_rule(certificate, scorer)]
        return [*checks, *plan, *audit_groups(certificate, scorer, theta, rows, data, parts)]
    of_members = [points(block) for block in blocks]
    if guarantee.weights(certificate) is None:
        sizes = _sizes(certificate, scorer, theta, *of_members[0], tuning)
    else:
        sizes = _pool_sizes(certificate, scorer, theta, [rows for rows, _ in of_members], tuning)
    return [
        *checks,
        *_plan(certificate, units),
        *_rule(certificate, scorer),
        *_thresholds(certificate, scorer, theta, of_members),
        *level_audit(certificate, scorer, theta[0], *of_members[0]),
        *sizes,
    ]


def _misfit(certificate: Certificate, scorer: Scorer) -> Check | None:
    """What keeps everything else from being recomputed, if anything does."""
    if certificate.coverage.bound not in GUARANTEES:
        return Check("bound", False, list(GUARANTEES), certificate.coverage.bound)
    ties = stated_ties(certificate)
    tie = torch.tensor(ties, dtype=torch.float64) if ties else None
    if not scorer.rule.ties.accepts(np.array(stated_thresholds(certificate)).shape, tie):
        return Check("ties of the members", False, "as the rule of the sets needs them", ties)
    return None


def _plan(certificate: Certificate, rows: int) -> list[Check]:
    """What the options fix before D_N is seen; certificates of format 1 do not state them."""
    if certificate.options is None:
        return []
    options, union = FitOptions.read(certificate.options), certificate.coverage.union
    method, checks = METHODS[options.method], []
    fixed = method.tuned_rows(options, rows)
    if fixed is not None:
        split = [certificate.provenance.n_tune, certificate.provenance.n_calibrate]
        checks.append(equal("points that tune, and that calibrate", split, [fixed, rows - fixed]))
    if any(choice.startswith(_CHOICE_OF_BEFORE) for choice in union.choices):
        return checks
    try:
        plan = method.plan(options, rows)
    except TooFewPointsError as error:
        return [*checks, Check("choices and their shares of delta", False, union.choices, str(error))]
    stated, found = [union.choices, union.weights], [plan.choices, plan.weights]
    return [*checks, equal("choices and their shares of delta", stated, found)]


def _rule(certificate: Certificate, scorer: Scorer) -> list[Check]:
    """That sets are made as the options say, with the key that follows from the seed."""
    if certificate.options is None:
        return []
    asked = make_rule(FitOptions.read(certificate.options), scorer.score)
    # Groups are looked at where the rows are.
    found = replace(scorer.rule, groups=None)
    return [equal("rule of the sets", asked.to_json(), found.to_json())] if asked.to_json() else []


def _thresholds(
    certificate: Certificate, scorer: Scorer, theta: Tensor, of_members: list[tuple[Rows, ReferenceRows | None]]
) -> list[Check]:
    """Each threshold is its rank's order statistic of the scores on D_N, and as many truths as that are within it."""
    checks = []
    for member, parameters, (calibration, reference) in zip(certificate.members, theta, of_members, strict=True):
        who = f"member {member.member}"
        checks += threshold_checks(
            who, scorer, parameters, calibration, reference, k=member.k, tau=member.tau, tie=member.tie
        )
    return checks


def _sizes(
    certificate: Certificate,
    scorer: Scorer,
    theta: Tensor,
    calibration: Rows,
    reference: ReferenceRows | None,
    tuning: Rows | None,
) -> list[Check]:
    efficiency, members, n = certificate.efficiency, certificate.members, len(calibration)
    cap, quantile, on_grid = efficiency.cap, efficiency.quantile, efficiency.grid_size is not None
    found = calibrate(
        scorer,
        theta,
        calibration,
        [min(max(member.k, 1), n) for member in members],
        tuning=tuning if on_grid else None,
        cap=cap,
        fixed=fixed_grid(scorer, cap) if on_grid and tuning is None and cap is not None else [],
        size_ranks=[min(max(member.size_k or 0, 0), n) for member in members],
        sizes_at_grid=quantile is None or quantile.sizes is None,
        reference=reference,
        around=certificate.coverage.alpha if efficiency.bound == GRID_BETTING else None,
    )
    checks = [_near("mean size", efficiency.empirical, sum(found.size) / len(found.size))]
    if cap is not None:
        checks += _cap(certificate, scorer, tuning)
    if efficiency.is_exact:
        each = zip(members, found.largest, strict=True)
        checks += [_near(f"size of the sets of member {m.member}", m.efficiency_bound, value) for m, value in each]
    elif cap is not None:
        checks += _efficiencies(certificate, found.efficiency)
    if quantile is not None and len(found.size_quantile) == len(members):
        checks += [
            _near(f"size quantile of member {m.member}", m.size_quantile, value)
            for m, value in zip(members, _named(efficiency, found.size_quantile), strict=True)
        ]
    return checks


def _named(efficiency: Efficiency, sizes: list[float]) -> list[float]:
    """As a quantile names them."""
    if efficiency.quantile is None or efficiency.quantile.sizes is None:
        return sizes
    return [next_open_size(efficiency.measure, efficiency.cap, size) for size in sizes]


def _pool_sizes(
    certificate: Certificate, scorer: Scorer, theta: Tensor, blocks: list[Rows], tuning: Rows | None
) -> list[Check]:
    """On the last block; the last member's grid is made from D_0, or from the first block where there is none."""
    efficiency, members = certificate.efficiency, certificate.members
    before = tuning if tuning is not None else blocks[0]
    tau, alpha = [member.tau for member in members], certificate.coverage.alpha
    ties = [member.tie for member in members if member.tie is not None]
    found = measure_pool(scorer, theta, tau, blocks[-1], before, efficiency.cap, alpha, ties)
    weights = [member.weight or 0.0 for member in members]
    checks = [_near("mean size", efficiency.empirical, found.mean(weights))]
    if efficiency.cap is None or efficiency.is_exact:
        return checks
    efficiencies = np.minimum(found.at_grid / efficiency.cap, 1).mean(axis=0).tolist()
    return checks + _cap(certificate, scorer, tuning) + _efficiencies(certificate, efficiencies)


def _cap(certificate: Certificate, scorer: Scorer, tuning: Rows | None) -> list[Check]:
    """Certificates of format 1 do not state the options that it follows from."""
    if certificate.options is None:
        return []
    cap = size_cap(scorer, tuning, certificate.options.get("size_cap"))
    return [_near("cap of sizes", certificate.efficiency.cap, cap)]


def _efficiencies(certificate: Certificate, found: list[float]) -> list[Check]:
    return [
        _near(f"mean efficiency of member {member.member}", member.efficiency_empirical, value)
        for member, value in zip(certificate.members, found, strict=True)
    ]


def _near(name: str, stated: float | None, found: float | None) -> Check:
    if stated is None or found is None:
        return equal(name, stated, found)
    return Check(name, abs(stated - found) <= _SIZE_PLACES * max(abs(stated), abs(found)), stated, found)
