"""A pool's miscoverage is a weighted sum of independent Betas: its tail, and the ranks that keep a promise."""

import itertools
import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from certiset.core.bounds import (
    BoundsError,
    TooFewPointsError,
    beta_tail,
    progressive_ranks,
    progressive_tail,
    smallest_n_2b,
    vovk_2b,
)


@pytest.mark.parametrize(
    ("sizes", "ranks", "tail"),
    [
        ((250, 250), (20, 19), 0.0380),
        ((250, 250), (20, 20), 0.0533),
        ((500, 500), (42, 42), 0.0374),
        ((100, 100, 100, 100, 100), (8, 8, 8, 8, 8), 0.0483),
        ((137, 205, 308), (11, 17, 25), 0.0451),
        ((50, 50), (2, 2), 0.0069),
    ],
)
def test_tails_that_were_computed_elsewhere(sizes: tuple[int, ...], ranks: tuple[int, ...], tail: float) -> None:
    assert round(progressive_tail(sizes, ranks, 0.1), 4) == tail


@pytest.mark.parametrize(
    ("sizes", "ranks", "weights", "alpha"),
    [
        ((250, 250), (20, 19), (0.5, 0.5), 0.1),
        ((60, 300), (1, 30), (0.4, 0.6), 0.12),
        ((100, 900), (3, 60), (0.9, 0.1), 0.1),
        ((40, 40), (40, 1), (0.5, 0.5), 0.52),
        ((2, 2), (1, 2), (0.5, 0.5), 0.3),
        ((500, 500), (5, 8), (0.5, 0.5), 0.1),
        ((4, 20), (1, 8), (0.999, 0.001), 0.35),
    ],
)
def test_the_tail_lies_above_the_exact_one_and_within_its_accuracy(
    sizes: tuple[int, int], ranks: tuple[int, int], weights: tuple[float, float], alpha: float
) -> None:
    exact = exact_tail(sizes, ranks, weights, alpha)
    for accuracy in (3e-4, 1e-6):
        found = progressive_tail(sizes, ranks, alpha, weights, accuracy=accuracy)
        assert float(exact) <= found <= float(exact) * (1 + 2 * accuracy)


def exact_tail(sizes: tuple[int, int], ranks: tuple[int, int], weights: tuple[float, float], alpha: float) -> mpf:
    """P(w_1 L_1 + w_2 L_2 > alpha) by quadrature over L_1."""
    (m, n), (r, s), (v, w) = sizes, ranks, (mpf(weights[0]), mpf(weights[1]))
    with mp.workdps(60):
        norm = mp.beta(r, m + 1 - r)
        others = mp.beta(s, n + 1 - s)

        def beyond(x: mpf) -> mpf:
            """P(L_2 > (alpha - v x) / w)."""
            y = (alpha - v * x) / w
            if y <= 0:
                return mpf(1)
            return mpf(0) if y >= 1 else mp.betainc(s, n + 1 - s, y, 1) / others

        mean = mpf(r) / (m + 1)
        spread = mp.sqrt(mean * (1 - mean) / (m + 2))
        edges = [mean + z * spread for z in (-9, -6, -4, -2, 0, 2, 4, 6, 9, 14)]
        kinks = [alpha / v, (alpha - w) / v]
        ends = sorted({mpf(0), mpf(1), *(edge for edge in [*edges, *kinks] if 0 < edge < 1)})
        return mp.quad(lambda x: x ** (r - 1) * (1 - x) ** (m - r) / norm * beyond(x), ends, maxdegree=5)


@given(
    st.lists(st.integers(2, 400), min_size=2, max_size=4),
    st.lists(st.floats(0.01, 1.2), min_size=4, max_size=4),
    st.sampled_from([0.01, 0.05, 0.1, 0.3]),
    st.data(),
)
@settings(max_examples=25, deadline=None)
def test_the_tail_grows_with_each_rank_and_falls_with_alpha(
    sizes: list[int], shares: list[float], alpha: float, data: st.DataObject
) -> None:
    ranks = [min(max(1, round(s * alpha * m)), m - 1) for m, s in zip(sizes, shares, strict=False)]
    weights = [share / sum(shares[: len(sizes)]) for share in shares[: len(sizes)]]
    member = data.draw(st.integers(0, len(sizes) - 1))
    more = [rank + (k == member) for k, rank in enumerate(ranks)]
    tail = progressive_tail(sizes, ranks, alpha, weights)
    assert 0 < tail <= 1
    assert tail <= progressive_tail(sizes, more, alpha, weights) * (1 + 3e-4)
    assert progressive_tail(sizes, ranks, alpha * 1.05, weights) <= tail * (1 + 3e-4)


def test_a_million_draws_agree() -> None:
    rng = np.random.default_rng(16)
    for sizes, ranks, weights in (
        ((137, 205, 308), (11, 17, 25), None),
        ((120, 400), (9, 37), (0.7, 0.3)),
        ((100, 100, 100, 100, 100), (8, 7, 9, 8, 8), None),
    ):
        w = np.array(weights or [size / sum(sizes) for size in sizes])
        levels = sum(share * rng.beta(r, m + 1 - r, 1_000_000) for m, r, share in zip(sizes, ranks, w, strict=True))
        simulated = float(np.mean(levels > 0.1))
        tail = progressive_tail(sizes, ranks, 0.1, weights)
        assert abs(simulated - tail) <= 4 * math.sqrt(tail * (1 - tail) / 1e6) + 3e-4 * tail


def test_tails_that_are_far_out_keep_their_digits() -> None:
    tail = progressive_tail((400, 400), (4, 4), 0.1)
    assert tail < 1e-20
    assert float(exact_tail((400, 400), (4, 4), (0.5, 0.5), 0.1)) <= tail
    assert tail == pytest.approx(float(exact_tail((400, 400), (4, 4), (0.5, 0.5), 0.1)), rel=1e-3)
    assert progressive_tail((50, 50), (50, 50), 0.1) == 1.0


@given(st.integers(30, 10**6), st.sampled_from([0.01, 0.1, 0.3]), st.sampled_from([1e-9, 0.05, 0.5]))
@settings(max_examples=50, deadline=None)
def test_one_block_is_vovk_2b(n: int, alpha: float, delta: float) -> None:
    needed = smallest_n_2b(alpha, delta)
    if n < needed:
        with pytest.raises(TooFewPointsError, match=str(needed)):
            progressive_ranks([n], alpha, delta)
        return
    rank = int(vovk_2b(n, alpha, delta))
    assert progressive_ranks([n], alpha, delta) == (rank,)
    assert progressive_tail([n], [rank], alpha) == pytest.approx(float(beta_tail(n, rank, alpha)), rel=1e-12)


@pytest.mark.parametrize("sizes", [(250, 250), (137, 205, 308), (20, 500), (50, 50), (100,) * 5])
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_ranks_keep_the_promise_and_none_can_be_raised(sizes: tuple[int, ...], delta: float) -> None:
    ranks = progressive_ranks(sizes, 0.1, delta)
    assert progressive_tail(sizes, ranks, 0.1) <= delta
    for member in range(len(sizes)):
        more = [rank + (k == member) for k, rank in enumerate(ranks)]
        assert progressive_tail(sizes, more, 0.1) > delta
    # Nothing is lost against one block of all rows, but for whole numbers.
    rows = sum(sizes)
    assert sum(ranks) >= vovk_2b(rows, 0.1, delta) - len(sizes)


def test_no_other_ranks_of_small_blocks_have_a_higher_mean_level_by_more_than_a_rank() -> None:
    sizes, weights = (40, 60), (0.4, 0.6)
    ranks = progressive_ranks(sizes, 0.15, 0.1, weights)
    best = max(
        sum(w * r / (m + 1) for m, r, w in zip(sizes, other, weights, strict=True))
        for other in itertools.product(range(1, 12), range(1, 15))
        if progressive_tail(sizes, other, 0.15, weights) <= 0.1
    )
    mean = sum(w * r / (m + 1) for m, r, w in zip(sizes, ranks, weights, strict=True))
    assert best - 0.6 / 61 < mean <= best


def test_ranks_known_elsewhere() -> None:
    assert progressive_ranks((250, 250), 0.1, 0.05) == (20, 19)
    assert progressive_ranks((100,) * 5, 0.1, 0.05) == (8,) * 5
    assert progressive_ranks((137, 205, 308), 0.1, 0.05) == (11, 17, 25)


def test_levels_stay_nearly_equal_where_weights_are_not_in_proportion_to_sizes() -> None:
    sizes = (400, 100, 1000)
    ranks = progressive_ranks(sizes, 0.1, 0.05, (0.1, 0.8, 0.1))
    levels = [rank / (size + 1) for rank, size in zip(ranks, sizes, strict=True)]
    assert max(levels) - min(levels) <= 2 / 101


def test_too_few_rows_are_named_with_how_many_are_needed() -> None:
    with pytest.raises(TooFewPointsError, match="at least 46 rows in all") as caught:
        progressive_ranks((20, 20), 0.1, 0.05)
    assert caught.value.needed == 46
    assert progressive_ranks((23, 23), 0.1, 0.05) == (1, 1)
    with pytest.raises(TooFewPointsError):
        progressive_ranks((22, 22), 0.1, 0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((250, 250), (20, 19), 0.1, (0.5, 0.4)), "add up to 1"),
        (((250, 250), (20, 19), 0.1, (1.5, -0.5)), "positive"),
        (((250, 250), (20, 19), 0.1, (1.0,)), "one per block"),
        (((250, 250), (20,), 0.1), "one per block"),
        (((250, 250), (20, 0), 0.1), "ranks must be at least 1"),
        (((250, 250), (20, 251), 0.1), "k must be at most n"),
        (((250, 1), (20, 1), 0.1), "sizes must be at least 2"),
        (((), (), 0.1), "1 to 16 blocks"),
        (((50,) * 17, (1,) * 17, 0.1), "1 to 16 blocks"),
        (((250, 250), (20, 19), 1.0), "alpha must lie strictly"),
        (((250, 250), (20, 19), (0.1, 0.2)), "alpha must be one number"),
        (((250, 250), (20, math.nan), 0.1), "ranks must be a number"),
    ],
)
def test_arguments_outside_the_domain_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(BoundsError, match=message):
        progressive_tail(*arguments)


def test_both_are_quick() -> None:
    sizes = (1000, 1500, 2500)
    ranks = progressive_ranks(sizes, 0.1, 0.05)

    def least(function: Any, times: int) -> float:
        seconds = []
        for _ in range(times):
            start = time.process_time()
            function()
            seconds.append(time.process_time() - start)
        return min(seconds)

    # Ten times what they take alone on a machine: a slip in the search, and not a busy neighbour, fails this.
    assert least(lambda: progressive_tail(sizes, ranks, 0.1), 5) < 0.1
    assert least(lambda: progressive_ranks(sizes, 0.1, 0.05), 3) < 0.5
