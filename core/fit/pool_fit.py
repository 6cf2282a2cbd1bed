"""A pool that learns as it goes: members tuned on all rows before their own block, and calibrated there."""

import torch
from torch import Tensor

from certiset.core.certificate import Union
from certiset.core.certificate.content import Caveat
from certiset.core.certificate.pool_parts import PoolPlan, pool_efficiency
from certiset.core.certificate.pool_sizes import pool_sizes
from certiset.core.fit.certification import dimensions_of, sizes_of_one
from certiset.core.fit.families import Family
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.group_pool import fit_group_pool
from certiset.core.fit.grouping import is_grouped
from certiset.core.fit.member_tuning import tune_member
from certiset.core.fit.pool_measurement import measure_pool
from certiset.core.fit.reference_rows import make_reference
from certiset.core.fit.thresholds import GRID_POINTS, Calibrated, calibrate, size_cap
from certiset.core.fit.workspace import Workspace

SMALLEST_BLOCK = 100
_MOST_BLOCKS = 2


def block_sizes(n: int) -> tuple[int, ...]:
    """Two blocks where each has a hundred rows: more of them make thresholds noisy, and sizes are convex in levels."""
    count = max(1, min(_MOST_BLOCKS, n // SMALLEST_BLOCK))
    return tuple(n // count + (place < n % count) for place in range(count))


def fit_pool(work: Workspace, family: Family, pull: float) -> Fitted:
    """One member for each block of the plan; with a threshold for every group where there are groups."""
    if is_grouped(work.plan.options, work.data):
        return fit_group_pool(work, family, pull)
    plan, options, scorer = work.plan, work.plan.options, family.scorer
    pool = PoolPlan.of(plan.blocks, options.level, plan.delta(0))
    thetas: list[Tensor] = []
    blocks: list[Tensor] = []
    found: list[Calibrated] = []
    tuned_on: list[int] = []
    for place, (size, rank) in enumerate(zip(pool.sizes, pool.ranks, strict=True)):
        before, turn = plan.n_tune + sum(map(len, blocks)), (place, len(pool.sizes))
        thetas.append(tune_member(work, family, pull, before, thetas[-1] if thetas else None, turn))
        blocks.append(work.calibration(before, size))
        tuned_on.append(before)
        reference = make_reference(scorer, work.data, blocks[-1], work.dtype)
        rows = work.take(blocks[-1])
        found.append(
            calibrate(scorer, thetas[-1].unsqueeze(0), rows, [rank], tuning=None, cap=None, reference=reference)
        )
    work.report("calibrate", 0, 1)
    theta, tau = torch.stack(thetas), [one.tau[0] for one in found]
    ties = [tie for one in found for tie in one.tie]
    tuning = work.tuning()
    cap = size_cap(scorer, tuning, options.size_cap)
    measured = measure_pool(scorer, theta, tau, work.take(blocks[-1]), tuning, cap, options.level, ties)
    if scorer.score.one_size is not None:
        widths = [sizes_of_one(scorer, one)[0] for one in found]
        efficiency = pool.exact_efficiency(
            widths,
            measure=scorer.score.sets.measure,
            gamma=options.own_gamma,
            empirical=measured.mean(pool.weights),
            cap=cap,
            dimensions=dimensions_of(scorer),
        )
        members, against = pool.members(tau, tuned_on, widths=widths), None
    else:
        sized = pool_sizes(
            measured.at_grid,
            pool.weights,
            cap=cap,
            labels=scorer.score.cap_is_fixed,
            gamma=plan.gamma(0),
            grid_size=GRID_POINTS,
            seed=options.seed,
        )
        efficiency, against = pool_efficiency(
            sized,
            measure=scorer.score.sets.measure,
            gamma=options.own_gamma,
            empirical=measured.mean(pool.weights),
            cap=cap,
            grid_size=GRID_POINTS,
        )
        members = pool.members(tau, tuned_on, sized, ties=ties)
    return Fitted(
        scorer=scorer,
        theta=theta,
        n_tune=plan.n_tune,
        blocks=blocks,
        coverage=pool.coverage(options.level, options.own_delta, Union(plan.choices, plan.weights, 0)),
        members=members,
        efficiency=efficiency,
        rounding=[one.rounding[0] for one in found],
        caveats=[] if against is None else [Caveat("mean_size_not_certified", against)],
    )
