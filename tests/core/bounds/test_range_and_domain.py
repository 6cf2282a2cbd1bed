"""No overflow, no NaN, no warning within the promised range; a sentence that names the argument outside it."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from certiset.core.bounds import (
    BoundsError,
    DomainError,
    Supermartingale,
    TooFewPointsError,
    beta_tail,
    binary_kl,
    calibration_rank,
    efficiency_bound,
    kl_budget,
    kl_inverse,
    largest_rank,
    miscoverage_bound,
    monte_carlo_mean,
    per_draw_budget,
    per_draw_efficiency_bound,
    per_draw_rank,
    pool_miscoverage_bound,
    smallest_n_2a,
    smallest_n_2b,
    threshold,
    threshold_index,
    vovk_2a,
    vovk_2b,
)

SIZES = (2, 3, 8, 100, 10_000, 10**6, 10**8)
ALPHAS = (1e-6, 1e-3, 0.1, 0.5)
DELTAS = (1e-15, 1e-5, 0.05, 0.5)
DIVERGENCES = (0.0, 1e-9, 1.0, 1e3, 1e6)


@pytest.mark.parametrize("n", SIZES)
def test_corners_of_the_range_are_finite_and_silent(n: int) -> None:
    corners = [
        (k, alpha, delta, kl)
        for alpha, delta, kl in itertools.product(ALPHAS, DELTAS, DIVERGENCES)
        for k in {1, 2, max(1, int(n * alpha / 2)), max(1, int(n * alpha)), max(1, n // 2), n - 1, n}
        if k >= 1
    ]
    k, alpha, delta, kl = (np.array(column) for column in zip(*corners, strict=True))
    with np.errstate(all="raise"):
        seeger = np.asarray(kl_budget(n, k, alpha, delta, "seeger"))
        chernoff = np.asarray(kl_budget(n, k, alpha, delta, "chernoff"))
        exact = np.asarray(per_draw_budget(n, k, alpha, delta))
        promises = [
            np.asarray(miscoverage_bound(n, k, delta, kl, "seeger")),
            np.asarray(miscoverage_bound(n, k, delta, kl, "chernoff")),
            np.asarray(miscoverage_bound(n, k, delta, kl, "chernoff", alpha=alpha)),
        ]
        efficiencies = [
            np.asarray(efficiency_bound(0.3, max(n, 8), delta, kl, bound, grid_size=100))
            for bound in ("monotone", "grid_kl")
        ]
    for values in (seeger, chernoff, exact, *promises, *efficiencies):
        assert np.all(np.isfinite(values))
    slack = 1e-11 * np.maximum(1, np.abs(exact))
    assert np.all(seeger <= chernoff + slack)
    assert np.all(chernoff <= exact + slack)
    for values in (*promises, *efficiencies):
        assert np.all((values > 0) & (values <= 1))


@pytest.mark.parametrize(
    ("n", "alpha_hat", "k"),
    [(99, 0.29, 29), (2, 1 / 3, 1), (999, 0.05, 50), (9, 0.3, 3), (10**8 - 1, 0.29, 29 * 10**6), (99, 0.2999999, 29)],
)
def test_rank_is_safe_against_float_rounding(n: int, alpha_hat: float, k: int) -> None:
    assert calibration_rank(n, alpha_hat) == k


def test_every_level_k_over_n_plus_one_has_rank_k() -> None:
    for n in (7, 48, 99, 1000, 12_345):
        k = np.arange(1, n + 1)
        assert np.array_equal(calibration_rank(n, k / (n + 1)), k)


def test_threshold_is_an_order_statistic_and_infinite_beyond_the_sample() -> None:
    scores = np.array([5.0, 1.0, 3.0, 2.0, 4.0])
    assert threshold_index(5, 2) == 4
    assert threshold(scores, 2) == 4.0
    assert threshold(scores, 5) == 1.0
    assert threshold(scores, 0) == math.inf
    assert threshold_index(5, 0) == 6
    assert np.array_equal(np.asarray(threshold(scores, [0, 1, 5])), [math.inf, 5.0, 1.0])


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.1, 0.3])
@pytest.mark.parametrize("delta", [1e-15, 0.05, 0.5])
def test_errors_name_the_smallest_n_that_would_do(alpha: float, delta: float) -> None:
    exact, hoeffding = smallest_n_2b(alpha, delta), smallest_n_2a(alpha, delta)
    assert vovk_2b(exact, alpha, delta) >= 1
    assert calibration_rank(hoeffding, vovk_2a(hoeffding, alpha, delta)) >= 1
    if exact > 2:
        with pytest.raises(TooFewPointsError, match=str(exact)) as caught:
            vovk_2b(exact - 1, alpha, delta)
        assert caught.value.needed == exact
    if hoeffding > 2:
        with pytest.raises(TooFewPointsError, match=str(hoeffding)):
            vovk_2a(hoeffding - 1, alpha, delta)


def test_smallest_n_agrees_with_vovk_2b_at_equality() -> None:
    for n in range(2, 50):
        assert smallest_n_2b(0.5, 2.0**-n) == n
        assert vovk_2b(n, 0.5, 2.0**-n) >= 1


def test_too_few_points_is_a_sentence_a_user_can_act_on() -> None:
    with pytest.raises(TooFewPointsError) as caught:
        vovk_2b(40, 0.01, 0.05)
    assert str(caught.value) == (
        "n = 40 is too few for alpha = 0.01, delta = 0.05: at least 299 calibration points are needed."
    )
    with pytest.raises(TooFewPointsError, match="at least 19 calibration points"):
        calibration_rank(10, 0.05)
    assert calibration_rank(19, 0.05) == 1


BAD: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (kl_budget, (1000, 0, 0.1, 0.05), "k must be at least 1"),
    (kl_budget, (1000, math.nan, 0.1, 0.05), "k must be a number"),
    (kl_budget, (1000, 2.5, 0.1, 0.05), "k must be a whole number"),
    (kl_budget, (1000, 1001, 0.1, 0.05), "k must be at most n"),
    (kl_budget, (1, 1, 0.1, 0.05), "n must be at least 2"),
    (kl_budget, (1000, 50, 0.0, 0.05), "alpha must lie strictly between 0 and 1"),
    (kl_budget, (1000, 50, 0.1, 1.0), "delta must lie strictly between 0 and 1"),
    (kl_budget, (1000, 50, "a tenth", 0.05), "alpha must be a number"),
    (kl_budget, (1000, 50, 0.1, 0.05, "hoeffding"), "bound must be one of seeger, chernoff"),
    (kl_budget, (10**300, 50, 0.1, 0.05), "n must be at most 2"),
    (kl_budget, (np.array([10, 20]), np.array([1, 2, 3]), 0.1, 0.05), "do not broadcast"),
    (miscoverage_bound, (1000, 50, 0.05, -1.0), "kl must not be negative"),
    (miscoverage_bound, (1000, 50, 0.05, math.inf), "kl must be finite"),
    (miscoverage_bound, (1000, 50, 0.05, math.nan), "kl must be a number"),
    (miscoverage_bound, (1000, 50, 0.05, 0.0, "per_draw"), "bound must be one of"),
    (largest_rank, (1000, 0.1, 0.05, 0.0, "vovk"), "bound must be one of"),
    (beta_tail, (1000, math.nan, 0.1), "k must be a number"),
    (calibration_rank, (100, math.nan), "alpha_hat must be a number"),
    (calibration_rank, (100, 1.0), "alpha_hat must lie strictly"),
    (calibration_rank, (10, 1 - 2**-53), "alpha_hat must be at most"),
    (vovk_2a, (1000, 0.1, 0.0), "delta"),
    (vovk_2b, (1000, -0.1, 0.05), "alpha"),
    (per_draw_rank, (1000, 0.1, 0.05, math.nan, [50]), "log_ratio must be a number"),
    (per_draw_rank, (1000, 0.1, 0.05, math.inf, [50]), "log_ratio must be finite"),
    (per_draw_rank, (1000, 0.1, 0.05, 0.0, []), "non-empty"),
    (per_draw_rank, (1000, 0.1, 0.05, 0.0, [0]), "ranks must be at least 1"),
    (per_draw_rank, (1000, 0.1, 0.05, 0.0, [5, 5]), "must not repeat"),
    (per_draw_rank, (1000, 0.1, 0.05, 0.0, [5, 6], [0.5]), "one per rank"),
    (per_draw_rank, (1000, 0.1, 0.05, 0.0, [5, 6], [0.9, 0.9]), "add up to at most 1"),
    (per_draw_rank, (1000, 0.1, 0.05, 0.0, [5, 6], [1.0, 0.0]), "positive"),
    (per_draw_rank, (1000, 0.1, 0.05, 0.0, [5], None, 0), "draws must be at least 1"),
    (binary_kl, (1.5, 0.5), "p must lie between 0 and 1"),
    (kl_inverse, (0.5, -1.0), "c must not be negative"),
    (efficiency_bound, (1.2, 100, 0.05, 0.0, "monotone"), "empirical must lie between 0 and 1"),
    (efficiency_bound, (0.2, 100, 0.05, 0.0, "grid_kl"), "grid_kl needs grid_size"),
    (efficiency_bound, (0.2, 100, 0.05, 0.0, "theorem2"), "theorem2 needs score_bound"),
    (efficiency_bound, (0.2, 100, 0.05, 0.0, "bernstein"), "bound must be one of"),
    (per_draw_efficiency_bound, (0.2, 100, 0.05, math.nan), "log_ratio must be a number"),
    (pool_miscoverage_bound, (0.1, 0, 0.05), "draws must be at least 1"),
    (threshold, ([1.0, math.nan], 1), "scores must be a number"),
    (threshold, ([], 1), "non-empty"),
    (threshold, ([1.0], 2), "k must be at most n"),
    (kl_budget, (10**400, 5, 0.1, 0.05), "n must be at most 2"),
    (kl_budget, (np.datetime64("2020-01-01"), 5, 0.1, 0.05), "n must be a number"),
    (kl_budget, (1000, 50, None, 0.05), "alpha must be a number, not None"),
    (binary_kl, (np.array([0.1 + 2j]), 0.2), "p must be a number"),
    (vovk_2a, (100, 1e-160, 0.05), "no number of calibration points is enough"),
    (vovk_2b, (100, 1e-300, 0.05), "no number of calibration points is enough"),
    (calibration_rank, (100, 1e-310), "no number of calibration points is enough"),
    (smallest_n_2a, (0.0, 0.05), "alpha must lie strictly"),
    (smallest_n_2b, (0.1, 2.0), "delta must lie strictly"),
    (per_draw_rank, ([1000, 2000], 0.1, 0.05, 0.0, [50]), "n must be one number"),
    (per_draw_rank, (1000, 0.1, 0.05, [0.0, 0.0], [50]), "every draw must be paid for"),
    (per_draw_rank, (10, 0.1, 0.05, 0.0, [50]), "ranks must be at most n"),
    (pool_miscoverage_bound, (0.1, [1, 2], [0.1, 0.2, 0.3]), "do not broadcast"),
    (monte_carlo_mean, (1.2, 10, 0.05), "mean must lie between 0 and 1"),
    (Supermartingale, (np.array([0.1, 0.2]),), "alpha must be one number"),
    (Supermartingale, ("0.1",), "alpha must be a number"),
    (Supermartingale, (0.1, (0.5,), 2.5), "outcomes must be a whole number"),
    (Supermartingale, (0.1, (0.5,), 2, 3), "misses must lie between"),
    (Supermartingale, (0.1, (0.5,), 2, 1, math.nan), "log_peak must be a number"),
    (Supermartingale, (0.0,), "alpha"),
    (Supermartingale, (0.1, ()), "at least one strategy"),
    (Supermartingale, (0.1, (1.0,)), "stakes"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), BAD)
def test_arguments_outside_the_domain_are_named(
    function: Callable[..., Any], arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(BoundsError, match=message) as caught:
        function(*arguments)
    assert isinstance(caught.value, ValueError)


def test_grid_kl_needs_eight_points_and_says_so() -> None:
    with pytest.raises(TooFewPointsError, match="at least 8"):
        efficiency_bound(0.2, 7, 0.05, 0.0, "grid_kl", grid_size=10)


def test_monte_carlo_arguments_go_together() -> None:
    with pytest.raises(DomainError, match="go together"):
        efficiency_bound(0.2, 100, 0.05, 0.0, "monotone", draws=32)
    corrected = efficiency_bound(0.2, 100, 0.05, 0.0, "monotone", draws=32, gamma_monte_carlo=0.01)
    assert corrected > efficiency_bound(0.2, 100, 0.05, 0.0, "monotone")


def test_rank_one_is_legal_and_promises_by_the_largest_score() -> None:
    assert kl_budget(100, 1, 0.1, 0.05, "seeger") == pytest.approx(math.log(0.05) - math.log(100) - 99 * math.log(0.9))
