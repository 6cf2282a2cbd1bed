"""A pool that learns as it goes, with a threshold for every group in each block.

The law is that of `certiset.core.bounds.pool_groups`: given the groups of all rows, those of one group in a block are
draws from its own law, whatever was learned from the blocks before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from certiset.core.bounds import PoolGroupShares, SizeCounts, TooFewPointsError, group_shares, pool_group_shares
from certiset.core.certificate import Coverage, Efficiency, Member, Union
from certiset.core.certificate.content import EXACT
from certiset.core.certificate.group_content import Group, GroupBlock
from certiset.core.certificate.group_sizes import gamma_of_group
from certiset.core.certificate.guarantees.by_group import SHARE_RULE
from certiset.core.certificate.guarantees.pool_by_group import (
    MOST_GROUPS,
    PROGRESSIVE_BY_GROUP,
    largest_thresholds,
    tail_of_groups,
)
from certiset.core.certificate.pool_sizes import pool_sizes
from certiset.core.certificate.sizes import GRID_BETTING, reason_against
from certiset.core.fit.certification import dimensions_of, sizes_of_one
from certiset.core.fit.families import Family
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.group_caveats import group_caveats
from certiset.core.fit.group_measurement import grid_rows, mean_size_of_groups
from certiset.core.fit.grouping import Grouping, make_grouping
from certiset.core.fit.member_tuning import tune_member
from certiset.core.fit.plan import Plan
from certiset.core.fit.pool_measurement import measure_pool
from certiset.core.fit.reference_rows import make_reference
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import GRID_POINTS, Calibrated, calibrate, size_cap
from certiset.core.fit.workspace import Workspace

_FEWEST_IN_A_BLOCK = 100
"""rows of a group that make its thresholds no noisier than those of a pool without groups"""
_FEWEST_FOR_A_MEAN = 8
"""rows of a group in the last block from which its mean size is certified"""


def shares_of_pool(plan: Plan, counts: Sequence[Sequence[int]], unit: str) -> PoolGroupShares:
    """By the rows of each group in every block alone; at least one group must have finite thresholds."""
    if len(counts) > MOST_GROUPS:
        raise TooFewPointsError(
            f"a pool keeps its promise for at most {MOST_GROUPS} groups, and there are {len(counts)}: method learned "
            "has no such limit.",
            0,
            field="groups",
        )
    options = plan.options
    found = pool_group_shares(counts, options.level, plan.delta(0), weights_of(plan.blocks), SHARE_RULE)
    if not any(map(any, found.ranks)):
        raise TooFewPointsError(
            f"no group has enough {unit} in every block of a pool at alpha = {options.level:g}, delta = "
            f"{options.own_delta:g}: {found.rows_needed} of each that calibrate are enough. Method learned needs "
            "fewer.",
            found.rows_needed,
        )
    return found


def weights_of(blocks: Sequence[int]) -> list[float]:
    """In proportion to the blocks: fixed before any row is looked at, and the same for every group."""
    return [size / sum(blocks) for size in blocks]


def in_blocks(grouping: Grouping, calibration: Tensor, sizes: Sequence[int]) -> list[list[Tensor]]:
    """The places of every group's rows in each block, by group."""
    blocks = torch.split(calibration, list(sizes))
    return [list(of_group) for of_group in zip(*(grouping.places(block) for block in blocks), strict=True)]


def are_large_enough(work: Workspace, revealed: int, later: int, blocks: Sequence[int]) -> bool:
    """Whether a pool leaves every group its thresholds, each of them by enough rows, by the numbers of rows alone.

    Given the groups of all rows this is a constant. With a pooled group of all others it is not: which these are is
    read off the rows that are revealed, and what is decided here would say something about what they hold.
    """
    options = work.plan.options
    if work.data.groups is None or options.unknown_groups == "other" or len(blocks) < 2:
        return False
    now, then = work.split(revealed), work.split(later)
    grouping = make_grouping(options, work.model, work.data, then.tuning, then.calibration)
    if grouping.rule.count > MOST_GROUPS:
        return False
    alone = [len(part) for part in grouping.places(now.calibration)]
    counts = [[len(part) for part in parts] for parts in in_blocks(grouping, then.calibration, blocks)]
    delta = work.plan.delta(0)
    served = group_shares(alone, options.level, delta, SHARE_RULE).ranks
    if any(rank and min(own) < _FEWEST_IN_A_BLOCK for rank, own in zip(served, counts, strict=True)):
        return False
    pooled = pool_group_shares(counts, options.level, delta, weights_of(blocks), SHARE_RULE).ranks
    return any(served) and all(any(own) for rank, own in zip(served, pooled, strict=True) if rank)


@dataclass(frozen=True)
class _Pool:
    """What all groups have in common."""

    work: Workspace
    scorer: Scorer
    theta: Tensor
    weights: list[float]
    cap: float | None
    shares: PoolGroupShares
    found: list[list[Calibrated | None]]
    """by group and member; None without a threshold"""

    @property
    def finite(self) -> int:
        return sum(any(ranks) for ranks in self.shares.ranks)


def fit_group_pool(work: Workspace, family: Family, pull: float) -> Fitted:
    """One member for each block of the plan, calibrated group by group."""
    plan, scorer, rows = work.plan, family.scorer, work.split(work.plan.n_tune)
    grouping = make_grouping(plan.options, work.model, work.data, rows.tuning, rows.calibration)
    places = in_blocks(grouping, rows.calibration, plan.blocks)
    shares = shares_of_pool(plan, [[len(part) for part in parts] for parts in places], work.unit)
    thetas: list[Tensor] = []
    found: list[list[Calibrated | None]] = [[] for _ in places]
    tuned_on = [plan.n_tune + sum(plan.blocks[:member]) for member in range(len(plan.blocks))]
    for member, before in enumerate(tuned_on):
        turn = (member, len(plan.blocks))
        thetas.append(tune_member(work, family, pull, before, thetas[-1] if thetas else None, turn))
        for group, parts in enumerate(places):
            work.stop_if_asked()
            found[group].append(_calibrated(work, scorer, thetas[-1], parts[member], shares.ranks[group][member]))
    work.report("calibrate", 0, 1)
    cap = size_cap(scorer, work.tuning(), plan.options.size_cap)
    pool = _Pool(work, scorer, torch.stack(thetas), weights_of(plan.blocks), cap, shares, found)
    names, codes = grouping.rule.all_names, None if rows.tuning is None else grouping.codes[rows.tuning.numpy()]
    groups = [
        _group(pool, list(name), group, places[group][-1], None if codes is None else torch.from_numpy(codes))
        for group, name in enumerate(names)
    ]
    steps = next((counts.steps for _, counts in groups if counts is not None), None)
    return _fitted(pool, grouping, [group for group, _ in groups], tuned_on, steps)


def _calibrated(work: Workspace, scorer: Scorer, theta: Tensor, places: Tensor, rank: int) -> Calibrated | None:
    if not rank:
        return None
    reference = make_reference(scorer, work.data, places, work.dtype)
    rows = work.take(places)
    return calibrate(scorer, theta.unsqueeze(0), rows, [rank], tuning=None, cap=None, reference=reference)


def _group(
    pool: _Pool, name: list[str], group: int, last: Tensor, codes: Tensor | None
) -> tuple[Group, SizeCounts | None]:
    """With the size of its sets on its rows of the last block."""
    shares, known = pool.shares, [one for one in pool.found[group] if one is not None]
    each = zip(shares.counts[group], shares.ranks[group], pool.found[group], strict=True)
    blocks = [
        GroupBlock(n, k, None if one is None else one.tau[0], None if one is None or not one.tie else one.tie[0])
        for n, k, one in each
    ]
    whole = float(pool.work.model.outputs) if pool.scorer.score.cap_is_fixed and shares.totals[group] else None
    plain = Group(
        name=name,
        n=shares.totals[group],
        delta=shares.shares[group],
        k=sum(shares.ranks[group]),
        tau=max((one.tau[0] for one in known), default=None),
        size=whole,
        lacking=shares.lacking[group] or None,
        blocks=blocks,
    )
    return (plain, None) if not known else _with_size(pool, plain, group, known, last, codes)


def _with_size(
    pool: _Pool, group: Group, place: int, known: list[Calibrated], last: Tensor, codes: Tensor | None
) -> tuple[Group, SizeCounts | None]:
    """``known`` has one for each member; the counts are those from which the mean size is bounded, if it is."""
    work, scorer, options = pool.work, pool.scorer, pool.work.plan.options
    tau, ties = [one.tau[0] for one in known], [tie for one in known for tie in one.tie]
    grid = grid_rows(work.tuning(), codes, place)
    measured = measure_pool(scorer, pool.theta, tau, work.take(last), grid, pool.cap, options.level, ties)
    mean = measured.mean(pool.weights)
    if scorer.score.one_size is not None:
        widest = max(sizes_of_one(scorer, one)[0] for one in known)
        return replace(group, size=mean, bound=EXACT, upper_bound=widest), None
    sized = pool_sizes(
        measured.at_grid,
        pool.weights,
        cap=pool.cap,
        labels=scorer.score.cap_is_fixed,
        gamma=gamma_of_group(work.plan.gamma(0), pool.finite),
        grid_size=GRID_POINTS,
        seed=options.seed,
    )
    counts, bound, cap = sized.counts, sized.upper_bound, pool.cap
    if counts is None or bound is None or cap is None or len(last) < _FEWEST_FOR_A_MEAN:
        return replace(group, size=mean), None
    if reason_against(scorer.score.sets.measure, bound, cap, mean) is not None:
        return replace(group, size=mean), None
    stated = replace(
        group,
        size=mean,
        bound=GRID_BETTING,
        upper_bound=bound,
        efficiency=counts.mean,
        grid_size=GRID_POINTS,
        size_counts=counts.to_json(),
    )
    return stated, counts


def _fitted(pool: _Pool, grouping: Grouping, groups: list[Group], tuned_on: list[int], steps: int | None) -> Fitted:
    work, plan, shares, scorer = pool.work, pool.work.plan, pool.shares, pool.scorer
    alpha, ranks = plan.options.level, [sum(of_member) for of_member in zip(*shares.ranks, strict=True)]
    each = zip(pool.weights, ranks, plan.blocks, strict=True)
    return Fitted(
        scorer=replace(scorer, rule=replace(scorer.rule, groups=grouping.rule)),
        theta=pool.theta,
        n_tune=plan.n_tune,
        blocks=list(torch.split(work.calibration(), list(plan.blocks))),
        coverage=Coverage(
            alpha=alpha,
            delta=plan.options.own_delta,
            guarantee=PROGRESSIVE_BY_GROUP.name,
            bound=PROGRESSIVE_BY_GROUP.bound,
            n=plan.n,
            kl=0.0,
            kl_budget=None,
            miscoverage_bound=alpha,
            pool_miscoverage_bound=alpha,
            pool_delta=0.0,
            alpha_hat=math.fsum(weight * rank / (size + 1) for weight, rank, size in each),
            k=sum(ranks),
            draws=len(ranks),
            ranks=ranks,
            rank_weights=pool.weights,
            union=Union(plan.choices, plan.weights, 0),
            sizes=list(plan.blocks),
            tail=tail_of_groups(shares, alpha, pool.weights),
        ),
        members=[
            Member(
                member=member,
                k=ranks[member],
                tau=tau,
                log_ratio=0.0,
                miscoverage_bound=None,
                efficiency_empirical=None,
                efficiency_bound=None,
                weight=pool.weights[member],
                n=plan.blocks[member],
                tuned_on=tuned_on[member],
            )
            for member, tau in enumerate(largest_thresholds(groups))
        ],
        efficiency=Efficiency(
            measure=scorer.score.sets.measure,
            bound=None,
            gamma=plan.options.own_gamma,
            empirical=mean_size_of_groups(groups),
            upper_bound=None,
            cap=pool.cap,
            grid_size=None,
            monte_carlo=0.0,
            size_steps=steps,
            dimensions=dimensions_of(scorer),
        ),
        rounding=[one.rounding[0] for of_group in pool.found for one in of_group if one is not None],
        caveats=group_caveats(groups, work.unit, by_class=False),
        groups=groups,
        codes=grouping.codes,
    )
