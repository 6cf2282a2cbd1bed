"""Rows kept in proportion to their weights are draws from the target; weights that cannot be are refused."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from certiset.core.bounds import BoundsError, effective_number, thinning

unit = st.floats(0, 1, exclude_max=True)


@given(st.lists(st.tuples(unit, unit), max_size=30), st.floats(1e-300, 1e300))
def test_a_row_is_kept_if_its_number_is_below_its_share(rows: list[tuple[float, float]], bound: float) -> None:
    weights, uniforms = np.array([b * bound for b, _ in rows]), np.array([u for _, u in rows])
    kept = thinning(weights, bound, uniforms)
    assert kept.dtype == np.bool_
    assert kept.tolist() == [u < b / bound for b, u in zip(weights, uniforms, strict=True)]
    assert effective_number(weights, bound) == pytest.approx(sum(b / bound for b in weights))


def test_a_weight_of_zero_is_never_kept_and_that_of_the_bound_always() -> None:
    almost_one = np.nextafter(1.0, 0.0)
    assert thinning([0.0, 0.0, 3.0, 3.0], 3.0, [0.0, almost_one, 0.0, almost_one]).tolist() == [
        False,
        False,
        True,
        True,
    ]
    assert thinning([], 1.0, []).tolist() == []


def test_kept_rows_follow_the_target_whatever_constant_the_weights_have() -> None:
    """x uniform, target density 3 x^2: kept rows have the distribution function x^3, and 1/3 of them is kept."""
    rng, rows = np.random.default_rng(12), 60_000
    x = rng.random(rows)
    for factor in (1.0, 0.02):
        kept = thinning(factor * 3 * x**2, factor * 3, rng.random(rows))
        assert kstest(x[kept], lambda t: t**3).pvalue > 1e-3
        assert abs(np.count_nonzero(kept) - rows / 3) < 4 * math.sqrt(rows * 2 / 9)
        assert effective_number(factor * 3 * x**2, factor * 3) == pytest.approx(rows / 3, rel=0.02)


def test_pairs_of_neighbouring_kept_rows_are_independent() -> None:
    rng = np.random.default_rng(13)
    x = rng.random(100_000)
    kept = x[thinning(2 * x, 2.0, rng.random(x.size))]
    pairs = kept[: kept.size // 2 * 2].reshape(-1, 2)
    assert abs(np.asarray(np.corrcoef(pairs.T))[0, 1]) < 4 / math.sqrt(len(pairs))


@pytest.mark.parametrize(
    ("weights", "bound", "uniforms", "message"),
    [
        ([1.0, 2.5], 2.0, [0.5, 0.5], r"at most bound = 2, and one is 2.5\. The bound is what no weight can exceed"),
        ([1.0, -0.1], 2.0, [0.5, 0.5], "weights must not be negative, and one is -0.1"),
        ([1.0, math.inf], 2.0, [0.5, 0.5], "weights must be finite"),
        ([1.0, math.nan], 2.0, [0.5, 0.5], "weights must be a number"),
        ([1.0, "heavy"], 2.0, [0.5, 0.5], "weights must be a number"),
        ([[1.0, 1.0]], 2.0, [[0.5, 0.5]], "weights must be a list"),
        (1.0, 2.0, 0.5, "weights must be a list"),
        ([1.0, 1.0], 0.0, [0.5, 0.5], "bound must be above 0"),
        ([0.0, 0.0], -1.0, [0.5, 0.5], "bound must be above 0"),
        ([1.0, 1.0], math.inf, [0.5, 0.5], "bound must be finite"),
        ([1.0, 1.0], [2.0, 2.0], [0.5, 0.5], "bound must be one number"),
        ([1.0, 1.0], 2.0, [0.5], "one per row"),
        ([1.0, 1.0], 2.0, [0.5, 1.0], r"uniforms must lie in \[0, 1\)"),
        ([1.0, 1.0], 2.0, [0.5, -0.5], r"uniforms must lie in \[0, 1\)"),
        ([1.0, 1.0], 2.0, [0.5, math.nan], "uniforms must be a number"),
    ],
)
def test_what_would_not_be_draws_from_the_target_is_refused(
    weights: Any, bound: Any, uniforms: Any, message: str
) -> None:
    with pytest.raises(BoundsError, match=message):
        thinning(weights, bound, uniforms)
    if "uniforms" not in message and "per row" not in message:
        with pytest.raises(BoundsError, match=message):
            effective_number(weights, bound)
