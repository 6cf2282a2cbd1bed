"""Whole fits by the method `pac_bayes` in which a posterior that has learned from the calibration rows is served."""

from typing import Any

from benchmarks.evidence.promises.family import Family, Tally
from benchmarks.evidence.promises.fit_tallies import ALPHA, Account, fit_case, fits, missed, too_much

SMALL_PRIOR = {"split": 0.02, "train": "mean", "scale": 1.0, "steps": 3, "objective": "proper"}
"""a D_0 of a few rows, so that there is something left to learn on D_N"""
SENSOR: dict[str, Any] = {
    "method": "pac_bayes",
    "score": "residual",
    "prior": SMALL_PRIOR,
    "alpha_hat": [0.12],
    "optimizer": {"steps": 15, "rate": 1.0},
    "members": 4,
}
LOGITS: dict[str, Any] = {
    "method": "pac_bayes",
    "prior": {**SMALL_PRIOR, "split": 0.01, "scale": 0.5},
    "alpha_hat": [0.14],
    "optimizer": {"steps": 40, "rate": 1.0},
    "allow_missing_classes": True,
    "members": 2,
}

_MEAN = {
    "chernoff": {"guarantee": "posterior", "alpha_hat": [0.12]},
    "seeger": {"guarantee": "posterior", "alpha_hat": [0.08]},
}


def simulate(*, runs: int, seed: int, problem: str, rows: int, delta: float, options: dict[str, Any]) -> list[Tally]:
    """All fits count, whichever choice they took; ``stepped`` is the share of those that serve a posterior."""
    every, mean, pool = Account(delta), Account(delta), Account(2 * delta)
    for predictor in fits(problem, rows, runs, seed, {"delta": delta, **options}):
        lost, coverage = missed(problem, predictor), predictor.certificate.coverage
        facts = {"stepped": coverage.kl > 0, "kl": coverage.kl, "missed": lost.mean()}
        if options.get("guarantee") == "posterior":
            mean.count(too_much(lost.mean(), ALPHA), **facts)
            pool.count(too_much(lost.mean(), coverage.pool_miscoverage_bound), bound=coverage.pool_miscoverage_bound)
        else:
            every.count(too_much(lost.max(), ALPHA), **facts)
    found = [
        every.tally("no member misses more than alpha"),
        mean.tally("mean over the posterior, by its members"),
        pool.tally("the realised pool"),
    ]
    return [tally for tally in found if tally.made]


FAMILY = Family(
    "posterior_fits",
    "coverage",
    "Whole fits: `pac_bayes` with a posterior that is served",
    f"300 rows, of which 6 tune the prior (1000 and 10 for the logits), alpha = {ALPHA:g}. Two parameters of the "
    "sensor learn from the calibration rows and pay for it in nats. With guarantee `per_draw` coverage is promised for "
    "every served member; with `posterior` for their mean over the posterior (measured by the members that were drawn "
    "from it), and for the drawn members, with twice the risk, at another level.",
    simulate,
    [
        *(fit_case("every draw, sensor", "sensor", 300, delta, 1000, SENSOR, fits_at_once=50) for delta in (0.05, 0.2)),
        *(
            fit_case(f"{bound}, sensor", "sensor", 300, delta, 200, options, fits_at_once=50)
            for bound in ("chernoff", "seeger")
            for delta in (0.05, 0.2)
            for options in [{**SENSOR, **_MEAN[bound], "bound": bound, "members": 8}]
        ),
        fit_case("every draw, logits", "logits", 1000, 0.2, 200, LOGITS, fits_at_once=50),
    ],
)
