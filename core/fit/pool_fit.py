"""A pool that learns as it goes: members tuned on all rows before their own block, and calibrated there."""

from dataclasses import replace

import torch
from torch import Tensor

from certiset.core.certificate import Union
from certiset.core.certificate.content import Caveat
from certiset.core.certificate.pool_parts import PoolPlan, pool_efficiency
from certiset.core.certificate.pool_sizes import pool_sizes
from certiset.core.fit.families import Family
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.pool_measurement import measure_pool
from certiset.core.fit.reference_rows import make_reference
from certiset.core.fit.thresholds import GRID_POINTS, Calibrated, calibrate, size_cap
from certiset.core.fit.tuning import tune_pulled
from certiset.core.fit.workspace import Workspace

SMALLEST_BLOCK = 100
_MOST_BLOCKS = 2
_LATER_STEPS = 0.4
"""of the first member's: the next one begins where that one ended"""


def block_sizes(n: int) -> tuple[int, ...]:
    """Two blocks where each has a hundred rows: more of them make thresholds noisy, and sizes are convex in levels."""
    count = max(1, min(_MOST_BLOCKS, n // SMALLEST_BLOCK))
    return tuple(n // count + (place < n % count) for place in range(count))


def tune_member(
    work: Workspace,
    family: Family,
    pull: float,
    revealed: int,
    start: Tensor | None = None,
    place: int = 0,
    members: int = 1,
) -> Tensor:
    """(d,): tuned on the first rows, from the model as given or from an earlier member.

    ``place`` is its number among so many ``members``, each of which has its part of the progress.
    """
    rows, schedule = work.tuning(revealed), family.schedule
    assert rows is not None
    if start is not None:
        schedule = replace(schedule, steps=int(_LATER_STEPS * schedule.steps))
    theta = tune_pulled(
        family.scorer,
        rows,
        [pull],
        work.plan.options,
        schedule,
        work.generator(1),
        start=None if start is None else start.unsqueeze(0),
        progress=lambda step, steps, loss: work.report("tune", place * steps + step, members * steps, loss=loss),
        should_stop=work.should_stop,
    )
    work.stop_if_asked()
    return theta[0]


def fit_pool(work: Workspace, family: Family, pull: float) -> Fitted:
    """One member for each block of the plan."""
    plan, options, scorer = work.plan, work.plan.options, family.scorer
    pool = PoolPlan.of(plan.blocks, options.alpha, plan.delta(0))
    thetas: list[Tensor] = []
    blocks: list[Tensor] = []
    found: list[Calibrated] = []
    tuned_on: list[int] = []
    for size, rank in zip(pool.sizes, pool.ranks, strict=True):
        before = plan.n_tune + sum(map(len, blocks))
        start = thetas[-1] if thetas else None
        thetas.append(tune_member(work, family, pull, before, start, len(thetas), len(pool.sizes)))
        blocks.append(work.calibration(before, size))
        tuned_on.append(before)
        reference = make_reference(scorer, work.data, blocks[-1], work.dtype)
        rows = work.take(blocks[-1])
        found.append(
            calibrate(scorer, thetas[-1].unsqueeze(0), rows, [rank], tuning=None, cap=None, reference=reference)
        )
    work.report("calibrate", 0, 1)
    theta, tau = torch.stack(thetas), [one.tau[0] for one in found]
    tuning = work.tuning()
    cap = size_cap(scorer, tuning, options.size_cap)
    measured = measure_pool(scorer, theta, tau, work.take(blocks[-1]), tuning, cap, options.alpha)
    if scorer.score.has_one_size:
        widths = [max(one.largest[0], 2 * one.tau[0]) for one in found]
        empirical = measured.mean(pool.weights)
        efficiency = pool.exact_efficiency(widths, gamma=options.own_gamma, empirical=empirical, cap=cap)
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
        members = pool.members(tau, tuned_on, sized)
    return Fitted(
        scorer=scorer,
        theta=theta,
        n_tune=plan.n_tune,
        blocks=blocks,
        coverage=pool.coverage(options.alpha, options.own_delta, Union(plan.choices, plan.weights, 0)),
        members=members,
        efficiency=efficiency,
        rounding=[one.rounding[0] for one in found],
        caveats=[] if against is None else [Caveat("mean_size_not_certified", against)],
    )
