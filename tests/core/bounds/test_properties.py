"""How the bounds relate to each other and to their arguments, over the whole promised range."""

import math
from collections.abc import Callable
from typing import SupportsFloat

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from certiset.core.bounds import (
    PosteriorBound,
    RankBound,
    beta_tail,
    binary_kl,
    efficiency_bound,
    kl_budget,
    kl_inverse,
    kl_inverse_of_mean,
    largest_rank,
    miscoverage_bound,
    monte_carlo_mean,
    per_draw_budget,
    per_draw_efficiency_bound,
    per_draw_rank,
    pool_miscoverage_bound,
    vovk_2b,
)

ROUNDING = 1e-11


def log_uniform(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))


sizes = log_uniform(2, 1e8).map(round)
alphas = log_uniform(1e-6, 0.5)
deltas = log_uniform(1e-15, 0.5)
divergences = st.one_of(st.just(0.0), log_uniform(1e-9, 1e6))
units = st.floats(0, 1)
bounds: st.SearchStrategy[PosteriorBound] = st.sampled_from(("seeger", "chernoff"))

rank_bounds: st.SearchStrategy[RankBound] = st.sampled_from(("seeger", "chernoff", "per_draw"))


@st.composite
def calibrations(draw: st.DrawFn) -> tuple[int, int, float]:
    """(n, k, alpha), the rank often near n alpha."""
    n, alpha = draw(sizes), draw(alphas)
    share = draw(st.one_of(st.floats(0, 1.2).map(lambda s: s * alpha), st.floats(0, 1)))
    return n, min(max(round(share * n), 1), n), alpha


@st.composite
def below_alpha(draw: st.DrawFn) -> tuple[int, int, float]:
    """(n, k, alpha) with k + 1 <= n and k / (n - 1) < alpha, so that both k and k + 1 are worth comparing."""
    alpha = draw(alphas)
    n = round(draw(log_uniform(3 / alpha + 3, 1e8)))
    largest = max(1, math.ceil(alpha * (n - 1)) - 1)
    return n, draw(st.integers(1, largest)), alpha


def at_most(low: SupportsFloat, high: SupportsFloat) -> bool:
    return float(low) <= float(high) + ROUNDING * max(1.0, abs(float(high)))


@given(calibrations(), deltas)
def test_budgets_are_ordered_seeger_chernoff_per_draw(calibration: tuple[int, int, float], delta: float) -> None:
    n, k, alpha = calibration
    seeger, chernoff = (kl_budget(n, k, alpha, delta, bound) for bound in ("seeger", "chernoff"))
    assert at_most(seeger, chernoff)
    assert at_most(chernoff, per_draw_budget(n, k, alpha, delta))


@given(calibrations(), deltas, bounds)
def test_budget_is_negative_where_the_empirical_miscoverage_reaches_alpha(
    calibration: tuple[int, int, float], delta: float, bound: PosteriorBound
) -> None:
    n, k, alpha = calibration
    assume((k - 1) / (n - 1) >= alpha)
    assert kl_budget(n, k, alpha, delta, bound) < 0


@given(below_alpha(), deltas, bounds)
def test_budgets_decrease_in_the_rank(calibration: tuple[int, int, float], delta: float, bound: PosteriorBound) -> None:
    n, k, alpha = calibration
    # Beyond alpha, Seeger's budget is negative and only its sign has a meaning.
    assert k + 1 <= n
    assert k / (n - 1) < alpha
    assert at_most(kl_budget(n, k + 1, alpha, delta, bound), kl_budget(n, k, alpha, delta, bound))
    assert at_most(per_draw_budget(n, k + 1, alpha, delta), per_draw_budget(n, k, alpha, delta))


@given(calibrations(), deltas, deltas, bounds)
def test_budgets_grow_in_delta(
    calibration: tuple[int, int, float], delta: float, other: float, bound: PosteriorBound
) -> None:
    n, k, alpha = calibration
    low, high = sorted((delta, other))
    assert at_most(kl_budget(n, k, alpha, low, bound), kl_budget(n, k, alpha, high, bound))
    assert at_most(per_draw_budget(n, k, alpha, low), per_draw_budget(n, k, alpha, high))


@given(calibrations(), deltas, bounds)
def test_spending_the_whole_budget_promises_exactly_alpha(
    calibration: tuple[int, int, float], delta: float, bound: PosteriorBound
) -> None:
    n, k, alpha = calibration
    budget = float(kl_budget(n, k, alpha, delta, bound))
    if budget >= 0:
        assert miscoverage_bound(n, k, delta, budget, bound, alpha=alpha) == pytest.approx(alpha, rel=1e-9)
    else:  # not even the prior can be promised alpha
        assert float(miscoverage_bound(n, k, delta, 0.0, bound, alpha=alpha)) >= alpha * (1 - 1e-9)


@given(calibrations(), deltas, divergences, divergences, bounds)
def test_promise_grows_with_the_divergence_and_stays_a_probability(
    calibration: tuple[int, int, float], delta: float, kl: float, other: float, bound: PosteriorBound
) -> None:
    n, k, alpha = calibration
    low, high = sorted((kl, other))
    first = miscoverage_bound(n, k, delta, low, bound, alpha=alpha)
    second = miscoverage_bound(n, k, delta, high, bound, alpha=alpha)
    assert at_most(first, second)
    assert 0 < first <= 1


@given(sizes, alphas, deltas)
def test_per_draw_rank_equals_vovk_2b_when_posterior_is_prior(n: int, alpha: float, delta: float) -> None:
    k = int(largest_rank(n, alpha, delta, bound="per_draw"))
    if k == 0:
        with pytest.raises(ValueError, match="too few"):
            vovk_2b(n, alpha, delta)
        return
    assert vovk_2b(n, alpha, delta) == k
    assert per_draw_rank(n, alpha, delta, 0.0, [k], [1.0], 1) == k
    assert beta_tail(n, k, alpha) <= delta
    if k < n:
        assert per_draw_rank(n, alpha, delta, 0.0, [k + 1], [1.0], 1) == 0
        assert beta_tail(n, k + 1, alpha) > delta


@given(sizes, alphas, deltas, st.floats(-20, 200), st.integers(1, 64), st.data())
def test_per_draw_rank_is_the_largest_rank_that_satisfies_the_rule(
    n: int, alpha: float, delta: float, log_ratio: float, draws: int, data: st.DataObject
) -> None:
    ranks = data.draw(st.lists(st.integers(1, n), min_size=1, max_size=8, unique=True))
    raw = data.draw(st.lists(st.floats(0.01, 1), min_size=len(ranks), max_size=len(ranks)))
    weights = [w / (sum(raw) * (1 + 1e-12)) for w in raw]
    allowed = [
        k
        for k, w in zip(ranks, weights, strict=True)
        if log_ratio <= float(per_draw_budget(n, k, alpha, delta, weight=w, draws=draws))
    ]
    assert per_draw_rank(n, alpha, delta, log_ratio, ranks, weights, draws) == max(allowed, default=0)


@given(sizes, alphas, deltas, divergences, rank_bounds)
@settings(max_examples=60)
def test_largest_rank_is_the_last_with_enough_budget(
    n: int, alpha: float, delta: float, kl: float, bound: RankBound
) -> None:
    k = int(largest_rank(n, alpha, delta, kl, bound))

    def budget(rank: int) -> float:
        if bound == "per_draw":
            return float(per_draw_budget(n, rank, alpha, delta))
        return float(kl_budget(n, rank, alpha, delta, bound))

    assert k == 0 or budget(k) >= kl
    assert k == n or budget(k + 1) < kl


@given(units, log_uniform(1e-15, 1e3))
def test_inverses_invert(p: float, c: float) -> None:
    q = float(kl_inverse(p, c))
    assert p <= q <= 1
    if q < 1 - 1e-12:
        assert _surrounds(lambda x: float(binary_kl(p, x)), q, c)
    mean = float(kl_inverse_of_mean(p, c))
    assert p <= mean <= 1
    if p > 0 and mean < 1 - 1e-12:
        assert _surrounds(lambda x: float(binary_kl(x, p)), mean, c)


def _surrounds(divergence: Callable[[float], float], solution: float, goal: float) -> bool:
    """Whether the goal is met within a relative 1e-13 of the solution: kl may be steeper than floats are fine."""
    slack = 1e-13 * solution
    low, high = max(solution - slack, 0.0), min(solution + slack, 1.0)
    return divergence(low) <= goal * (1 + 1e-9) + 1e-25 and divergence(high) >= goal * (1 - 1e-9) - 1e-25


@given(units, units)
def test_divergence_is_zero_only_between_equals(p: float, q: float) -> None:
    kl = float(binary_kl(p, q))
    assert kl >= 0
    assert (kl == 0) == (p == q) or (p - q) ** 2 < 1e-300
    # Pinsker, up to what squares to less than the smallest float
    assert kl >= 2 * (p - q) ** 2 * (1 - 1e-12)


def test_divergence_at_the_ends_is_exact() -> None:
    assert binary_kl(0, 0.25) == pytest.approx(-math.log(0.75), rel=1e-15)
    assert binary_kl(1, 0.25) == pytest.approx(-math.log(0.25), rel=1e-15)
    assert binary_kl(0, 0) == 0
    assert binary_kl(1, 1) == 0
    assert binary_kl(0.5, 0) == math.inf
    assert binary_kl(0.5, 1) == math.inf
    assert kl_inverse(0, 0.3) == pytest.approx(1 - math.exp(-0.3), rel=1e-15)
    assert kl_inverse(1, 0.3) == 1
    assert kl_inverse(0.2, 0) == 0.2
    assert kl_inverse(0.2, math.inf) == 1
    assert kl_inverse_of_mean(0, 5) == 0
    assert kl_inverse_of_mean(0.2, 100) == 1


@given(units, st.integers(8, 10**8), deltas, divergences, divergences)
def test_efficiency_bounds_grow_with_the_divergence_and_stay_above_the_mean(
    empirical: float, n: int, gamma: float, kl: float, other: float
) -> None:
    low, high = sorted((kl, other))
    for bound in ("monotone", "grid_kl", "theorem2"):
        options = {"grid_size": 20, "score_bound": 1.0, "lipschitz": 2.5}
        first = float(efficiency_bound(empirical, n, gamma, low, bound, **options))
        second = float(efficiency_bound(empirical, n, gamma, high, bound, **options))
        assert empirical <= first <= second + ROUNDING
        assert second <= 1


@given(units, st.integers(8, 10**8), deltas)
def test_theorem2_is_never_below_monotone(empirical: float, n: int, gamma: float) -> None:
    with_slope = efficiency_bound(empirical, n, gamma, 1.0, "theorem2", score_bound=1.0, lipschitz=2.5)
    assert efficiency_bound(empirical, n, gamma, 1.0, "monotone") <= with_slope


@given(units, st.integers(8, 10**8), deltas, st.integers(1, 1000), divergences)
def test_per_draw_efficiency_is_the_bound_at_the_log_ratio_and_a_share_of_gamma(
    empirical: float, n: int, gamma: float, draws: int, log_ratio: float
) -> None:
    for bound in ("monotone", "grid_kl"):
        one = per_draw_efficiency_bound(empirical, n, gamma, log_ratio, draws, bound, grid_size=20)
        same = efficiency_bound(empirical, n, gamma / draws, log_ratio, bound, grid_size=20)
        assert one == same
    cheaper = per_draw_efficiency_bound(empirical, n, gamma, -log_ratio, draws, "monotone")
    assert empirical <= cheaper <= per_draw_efficiency_bound(empirical, n, gamma, log_ratio, draws, "monotone")


@given(st.floats(0.001, 0.999), st.integers(1, 10_000), deltas)
def test_pool_bound_is_above_the_bound_on_the_mean_and_tightens_with_more_draws(
    bound: float, draws: int, delta: float
) -> None:
    few, many = pool_miscoverage_bound(bound, draws, delta), pool_miscoverage_bound(bound, 10 * draws, delta)
    assert bound <= many <= few <= 1


@given(st.floats(0.0, 0.45), st.integers(1, 10_000), deltas)
def test_pool_bound_is_no_looser_than_the_inverse_in_the_other_argument(bound: float, draws: int, delta: float) -> None:
    exponent = -math.log(delta) / draws
    other = float(kl_inverse(bound, exponent))
    assume(bound + other <= 1)
    assert at_most(pool_miscoverage_bound(bound, draws, delta), other)


@given(units, st.integers(1, 10_000), deltas)
def test_monte_carlo_correction_only_adds(mean: float, draws: int, gamma: float) -> None:
    assert mean <= monte_carlo_mean(mean, draws, gamma) <= 1


def test_bounds_accept_arrays_and_agree_with_scalars() -> None:
    n = np.array([[50], [500], [5000]])
    k = np.array([1, 2, 5])
    for bound in ("seeger", "chernoff"):
        table = np.asarray(kl_budget(n, k, 0.1, 0.05, bound))
        promised = np.asarray(miscoverage_bound(n, k, 0.05, 0.5, bound, alpha=0.1))
        assert table.shape == promised.shape == (3, 3)
        for row in range(3):
            for column in range(3):
                size, rank = int(n[row, 0]), int(k[column])
                assert table[row, column] == pytest.approx(kl_budget(size, rank, 0.1, 0.05, bound), rel=1e-9)
                assert promised[row, column] == pytest.approx(
                    miscoverage_bound(size, rank, 0.05, 0.5, bound, alpha=0.1),
                    rel=1e-9,
                )
