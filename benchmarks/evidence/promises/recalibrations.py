"""Deployments that are recalibrated on their outcomes, held against their accounts; and after a drift."""

import numpy as np

from benchmarks.evidence.promises.deployment_world import ALPHA, recalibrate
from benchmarks.evidence.promises.family import Case, Family, Tally

PREDICTORS, ROWS = 10, 300
_FIRST = 1
"""predictor, which is on the account as well"""


def simulate(
    *, runs: int, seed: int, delta: float, pool: bool, drift_after: int | None = None, ended_by: str = "rows"
) -> list[Tally]:
    """``delta`` of each predictor. Without a drift all of a deployment's promises, after one those that follow."""
    found = recalibrate(
        runs=runs,
        seed=seed,
        rows=ROWS,
        delta=delta,
        predictors=PREDICTORS,
        drift_after=drift_after,
        ended_by=ended_by,
        pool=pool,
    )
    if drift_after is not None:
        words = "the first predictor after the alarm misses at most alpha"
        return [Tally(words, delta, found.broken_after_alarm, found.after_alarm)]
    facts = {"alarms": float(found.alarms.mean())}
    some = int(np.count_nonzero(found.broken))
    honest = ended_by == "rows"
    return [Tally("no predictor misses more than alpha", float(found.spent.mean()), some, runs, honest, facts)]


def _words(pool: bool) -> str:
    return "a new block replaces the oldest member" if pool else "on the new block alone"


FAMILY = Family(
    "recalibrations",
    "deployments",
    "Recalibrated ten times",
    f"A deployment whose every outcome feeds the monitor and the open block of {ROWS} rows; each of {PREDICTORS} "
    f"further predictors is calibrated on its block, alpha = {ALPHA:g}. Without a drift it is broken if any of the "
    f"{PREDICTORS + _FIRST} misses more than alpha, which may happen as often as its account says: the sum of all "
    "blocks that began, those that a false alarm dropped included. With a drift after 1,000 outcomes (scores become "
    "their sixth roots), what follows the alarm rests on later rows alone. For comparison an adversary who ends a "
    "block when its rows are as he likes them.",
    simulate,
    [
        *(
            Case(
                f"no drift, {_words(pool)}",
                {"delta": total / (PREDICTORS + _FIRST), "pool": pool},
                runs=20_000,
                quick_runs=200,
            )
            for pool in (False, True)
            for total in (0.05, 0.2)
        ),
        *(
            Case(
                f"a drift, {_words(pool)}",
                {"delta": delta, "pool": pool, "drift_after": 1000},
                runs=20_000,
                quick_runs=200,
            )
            for pool in (False, True)
            for delta in (0.05, 0.2)
        ),
        Case(
            "no drift, blocks that **end by their outcomes**",
            {"delta": 0.05 / (PREDICTORS + _FIRST), "pool": False, "ended_by": "outcomes"},
            runs=2000,
            quick_runs=100,
        ),
    ],
)
