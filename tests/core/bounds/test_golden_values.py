"""Values that were computed elsewhere, to the digits they were printed with (alpha = 0.1, delta = 0.05)."""

import pytest

from certiset.core.bounds import (
    calibration_rank,
    kl_budget,
    largest_rank,
    per_draw_budget,
    vovk_2a,
    vovk_2b,
)
from certiset.core.bounds.chernoff import best_tilt
from certiset.core.bounds.domain import together
from tests.core.bounds.arrays import ints, reals


@pytest.mark.parametrize(
    ("n", "k", "seeger", "chernoff", "tilt", "per_draw"),
    [
        (250, 5, 7.64, 10.05, 226, 13.10),
        (250, 12, -1.08, 1.65, 147, 4.01),
        (500, 25, 2.34, 5.44, 280, 8.04),
        (1000, 50, 10.35, 13.79, 558, 16.70),
        (1000, 80, -4.24, -0.60, 224, 1.33),
        (2500, 125, 34.95, 38.85, 1391, 42.20),
        (5000, 400, 4.43, 8.87, 1112, 11.48),
    ],
)
def test_budgets(n: int, k: int, seeger: float, chernoff: float, tilt: int, per_draw: float) -> None:
    assert kl_budget(n, k, 0.1, 0.05, "seeger") == pytest.approx(seeger, abs=0.005)
    assert kl_budget(n, k, 0.1, 0.05, "chernoff") == pytest.approx(chernoff, abs=0.005)
    assert per_draw_budget(n, k, 0.1, 0.05) == pytest.approx(per_draw, abs=0.005)
    best, _rate = best_tilt(*together(n=ints(n), k=ints(k), alpha=reals(0.1)))
    assert round(float(best)) == tilt


@pytest.mark.parametrize(
    ("n", "seeger", "chernoff", "exact", "hoeffding"),
    [(250, 10, 14, 17, 5), (500, 28, 34, 39, 22), (1000, 67, 77, 85, 61), (2500, 195, 214, 226, 188)],
)
def test_largest_usable_ranks(n: int, seeger: int, chernoff: int, exact: int, hoeffding: int) -> None:
    assert largest_rank(n, 0.1, 0.05, bound="seeger") == seeger
    assert largest_rank(n, 0.1, 0.05, bound="chernoff") == chernoff
    assert largest_rank(n, 0.1, 0.05, bound="per_draw") == exact
    assert vovk_2b(n, 0.1, 0.05) == exact
    assert calibration_rank(n, vovk_2a(n, 0.1, 0.05)) == hoeffding
