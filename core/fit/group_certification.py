"""One theta and a threshold for every group: calibrated on each group's own rows, at its rank, and certified."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from certiset.core.bounds import GroupShares, SizeCounts, TooFewPointsError, group_shares
from certiset.core.bounds.pool_groups import in_one_block
from certiset.core.certificate import Coverage, Efficiency, Member, Union
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.group_prospects import GroupProspects
from certiset.core.certificate.group_sizes import gamma_of_group
from certiset.core.certificate.guarantees.by_group import SHARE_RULE, VOVK_2B_BY_GROUP, largest_threshold
from certiset.core.certificate.sizes import GRID_BETTING
from certiset.core.data.arrays import CheckedData
from certiset.core.fit.candidates import Candidate
from certiset.core.fit.certification import Certified, Parts, certify, dimensions_of
from certiset.core.fit.class_sizes import sizes_by_class
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.group_caveats import NOT_CERTIFIED, group_caveats
from certiset.core.fit.group_measurement import grid_rows, mean_size_of_groups
from certiset.core.fit.group_pool import in_blocks, shares_of_pool
from certiset.core.fit.group_thresholds import ClassThresholds, class_thresholds, mean_sizes_by_class
from certiset.core.fit.grouping import Grouping, make_grouping
from certiset.core.fit.plan import Plan
from certiset.core.fit.reference_rows import make_reference
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.splitting import count_units, split
from certiset.core.fit.thresholds import size_cap
from certiset.core.fit.workspace import Workspace
from certiset.core.models import Model

_WORTH_STATING = 0.01
"""share of all labels by which a bound on their mean number must be smaller"""


@dataclass(frozen=True)
class _Found:
    """Of one group."""

    tau: float | None = None
    tie: float | None = None
    size: float | None = None
    rounding: float = 0.0
    certified: Certified | None = None


def certify_groups(work: Workspace, scorer: Scorer, candidate: Candidate) -> Fitted:
    """The only candidate of a fit, with a threshold for each group."""
    plan, rows = work.plan, work.split(work.plan.n_tune)
    grouping = make_grouping(plan.options, work.model, work.data, rows.tuning, rows.calibration)
    places = grouping.places(rows.calibration)
    shares = shares_of(plan, [len(part) for part in places], work.unit)
    tuning = None if rows.tuning is None else work.take(rows.tuning)
    cap = size_cap(scorer, tuning, plan.options.size_cap)
    if not grouping.rule.by_class:
        found = _by_column(work, scorer, candidate, grouping, places, shares, rows.tuning, cap)
        return _fitted(work, scorer, candidate, grouping, shares, found, cap)
    thresholds, found = _by_class(work, scorer, candidate, rows.calibration, shares)
    counted = sizes_by_class(
        scorer,
        candidate.theta[0],
        work.take(rows.calibration),
        tuning,
        thresholds,
        alpha=plan.options.level,
        delta=plan.delta(0),
    )
    return _with_mean_size(_fitted(work, scorer, candidate, grouping, shares, found, cap), plan, counted)


def check_group_plan(plan: Plan, model: Model, data: CheckedData) -> Plan:
    """That some group will have a threshold, and which lack rows, if the plan is not changed by what rows reveal."""
    parts = split(plan.options.seed, plan.n_tune, data)
    grouping = make_grouping(plan.options, model, data, parts.tuning, parts.calibration)
    unit = count_units(data)[1]
    if len(plan.blocks) > 1:
        of_blocks = in_blocks(grouping, parts.calibration, plan.blocks)
        shares = in_one_block(shares_of_pool(plan, [[len(part) for part in own] for own in of_blocks], unit))
    else:
        shares = shares_of(plan, [len(part) for part in grouping.places(parts.calibration)], unit)
    names = [", ".join(name) for name in grouping.rule.all_names]
    return replace(plan, groups=GroupProspects.of(names, shares))


def shares_of(plan: Plan, counts: list[int], unit: str) -> GroupShares:
    """By the numbers of rows alone; at least one group must have a finite threshold."""
    options = plan.options
    found = group_shares(counts, options.level, plan.delta(0), SHARE_RULE)
    if not any(found.ranks):
        raise TooFewPointsError(
            f"no group has enough {unit} for a threshold at alpha = {options.level:g}, delta = {options.own_delta:g}: "
            f"{found.rows_needed} of each are enough, and the largest has {max(counts)} that calibrate.",
            found.rows_needed,
        )
    return found


def group_plan(plan: Plan, group: int, shares: GroupShares) -> Plan:
    """The plan of one group: its own rows, and its part of gamma."""
    finite = sum(rank > 0 for rank in shares.ranks)
    return replace(plan, blocks=(shares.counts[group],), weights=[gamma_of_group(1.0, finite)])


def _by_column(
    work: Workspace,
    scorer: Scorer,
    candidate: Candidate,
    grouping: Grouping,
    places: list[Tensor],
    shares: GroupShares,
    tuning: Tensor | None,
    cap: float | None,
) -> list[_Found]:
    found = []
    codes = None if tuning is None else torch.from_numpy(grouping.codes[tuning.numpy()])
    rows = None if tuning is None else work.take(tuning)
    for group, (part, rank) in enumerate(zip(places, shares.ranks, strict=True)):
        work.report("calibrate", group, len(places))
        work.stop_if_asked()
        if not rank:
            # Everything is in its sets: all labels, or an interval without ends.
            whole = float(work.model.outputs) if scorer.score.cap_is_fixed and len(part) else None
            found.append(_Found(size=whole))
            continue
        own = replace(candidate, ranks=[rank], k=rank, open_ranks=[rank], choice=0)
        reference = make_reference(scorer, work.data, part, work.dtype)
        parts = Parts(part, work.take(part), grid_rows(rows, codes, group), cap, reference)
        certified = certify(group_plan(work.plan, group, shares), scorer, own, parts)
        result = certified.calibrated
        found.append(
            _Found(result.tau[0], result.tie[0] if result.tie else None, result.size[0], result.rounding[0], certified)
        )
    return found


def _by_class(
    work: Workspace, scorer: Scorer, candidate: Candidate, calibration: Tensor, shares: GroupShares
) -> tuple[ClassThresholds, list[_Found]]:
    rows, theta = work.take(calibration), candidate.theta[0]
    reference = make_reference(scorer, work.data, calibration, work.dtype)
    thresholds = class_thresholds(scorer, theta, rows, list(shares.ranks), reference)
    sizes = mean_sizes_by_class(scorer, theta, rows, thresholds)
    found = []
    for place, (tau, size) in enumerate(zip(thresholds.tau, sizes, strict=True)):
        tie = None if thresholds.tie is None else thresholds.tie[place]
        finite = math.isfinite(tau)
        found.append(_Found(tau if finite else None, tie if finite else None, size, thresholds.rounding))
    return thresholds, found


def _with_mean_size(fitted: Fitted, plan: Plan, counted: tuple[SizeCounts, int] | None) -> Fitted:
    """With what the calibration rows say of all sets, if it is less than all labels."""
    cap = fitted.efficiency.cap
    if counted is None or cap is None:
        return fitted
    counts, points = counted
    bound = cap * counts.grid_upper_bound(plan.gamma(0), points)
    if bound >= cap * (1 - _WORTH_STATING):
        return fitted
    member = replace(
        fitted.members[0], efficiency_empirical=counts.mean, efficiency_bound=bound, size_counts=counts.to_json()
    )
    efficiency = replace(
        fitted.efficiency, bound=GRID_BETTING, upper_bound=bound, grid_size=points, size_steps=counts.steps
    )
    caveats = [caveat for caveat in fitted.caveats if caveat.code != NOT_CERTIFIED]
    return replace(fitted, members=[member], efficiency=efficiency, caveats=caveats)


def _fitted(
    work: Workspace,
    scorer: Scorer,
    candidate: Candidate,
    grouping: Grouping,
    shares: GroupShares,
    found: list[_Found],
    cap: float | None,
) -> Fitted:
    plan, rule = work.plan, replace(scorer.rule, groups=grouping.rule)
    measure = plan.score.sets.measure
    groups = [
        _group(list(name), place, shares, found[place], measure) for place, name in enumerate(grouping.rule.all_names)
    ]
    k = sum(shares.ranks)
    alpha = plan.options.level
    return Fitted(
        scorer=replace(scorer, rule=rule),
        theta=candidate.theta,
        n_tune=plan.n_tune,
        blocks=[work.calibration()],
        coverage=Coverage(
            alpha=alpha,
            delta=plan.options.own_delta,
            guarantee=VOVK_2B_BY_GROUP.name,
            bound=VOVK_2B_BY_GROUP.bound,
            n=plan.n,
            kl=0.0,
            kl_budget=None,
            miscoverage_bound=alpha,
            pool_miscoverage_bound=alpha,
            pool_delta=0.0,
            alpha_hat=k / (plan.n + 1),
            k=k,
            draws=1,
            ranks=[k],
            rank_weights=[1.0],
            union=Union(plan.choices, plan.weights, candidate.choice),
        ),
        members=[Member(0, k, largest_threshold(groups), 0.0, alpha, None, None)],
        efficiency=Efficiency(
            measure=measure,
            bound=None,
            gamma=plan.options.own_gamma,
            empirical=mean_size_of_groups(groups),
            upper_bound=None,
            cap=cap,
            grid_size=None,
            monte_carlo=0.0,
            size_steps=next((c.steps for c in map(_counts, found) if c is not None), None),
            dimensions=dimensions_of(scorer),
        ),
        rounding=[max(one.rounding for one in found)],
        caveats=group_caveats(groups, work.unit, by_class=grouping.rule.by_class),
        groups=groups,
        codes=grouping.codes,
    )


def _group(name: list[str], place: int, shares: GroupShares, found: _Found, measure: str) -> Group:
    certified = found.certified
    stated = certified is not None and certified.upper_bound is not None and certified.reason_against(measure) is None
    counts = _counts(found)
    calibrated = None if certified is None else certified.calibrated
    # At a grid point that an audit finds again: the grid is that of the mean.
    has_quantile = certified is not None and certified.has_quantile and (stated or certified.open_sizes is not None)
    return Group(
        name=name,
        n=shares.counts[place],
        delta=shares.shares[place],
        k=shares.ranks[place],
        tau=found.tau,
        size=found.size,
        tie=found.tie,
        lacking=shares.lacking[place] or None,
        bound=certified.bound if certified is not None and stated else None,
        upper_bound=certified.upper_bound if certified is not None and stated else None,
        efficiency=calibrated.efficiency[0] if stated and calibrated is not None and calibrated.efficiency else None,
        grid_size=certified.grid_size if certified is not None and stated else None,
        size_counts=counts.to_json() if stated and counts is not None else None,
        size_k=certified.size_ranks[0] if certified is not None and has_quantile else None,
        size_quantile=calibrated.size_quantile[0] if calibrated is not None and has_quantile else None,
        open_sizes=certified.open_sizes if certified is not None and has_quantile else None,
    )


def _counts(found: _Found) -> SizeCounts | None:
    """What a bound by betting is computed from."""
    certified = found.certified
    if certified is None or certified.bound != GRID_BETTING or not certified.calibrated.counts:
        return None
    return certified.calibrated.counts[0]
