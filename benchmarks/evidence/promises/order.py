"""The test of the rows' order on rows whose order means nothing: how often it gives a caveat all the same."""

import numpy as np

from benchmarks.evidence.promises.family import Case, Family, Tally
from certiset.core.certificate.data_checks import ORDER_LEVEL
from certiset.core.fit.order_test import order_p_value


def p_values(runs: int, seed: int, rows: int, kinds: int | None) -> np.ndarray:
    """(runs,): of independent scores and truths, continuous, or of so many kinds."""
    rng = np.random.default_rng(seed)
    found = []
    for run in range(runs):
        pair = rng.integers(kinds, size=(2, rows)).astype(np.float64) if kinds else rng.normal(size=(2, rows))
        found.append(order_p_value(pair[0], pair[1], run))
    return np.array(found)


def simulate(*, runs: int, seed: int, rows: int, kinds: int | None) -> list[Tally]:
    broken = int(np.count_nonzero(p_values(runs, seed, rows, kinds) < ORDER_LEVEL))
    return [Tally("no caveat about the order", ORDER_LEVEL, broken, runs)]


FAMILY = Family(
    "order",
    "caveats",
    "The order of the rows",
    "Independent rows, so that a caveat about their order is a false one. The test is conservative: it takes the "
    "smallest of three p-values, times three.",
    simulate,
    [
        Case(
            f"{rows} rows, {'continuous' if kinds is None else f'{kinds} values'}",
            {"rows": rows, "kinds": kinds},
            runs=20_000 if rows < 1000 else 5000,
            quick_runs=1000,
        )
        for rows in (30, 200, 1000)
        for kinds in (None, 3)
    ],
)
