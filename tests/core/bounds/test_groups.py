"""Shares of delta for groups: from the counts alone, all of delta, and ranks that Vovk 2b has at these shares."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certiset.core.bounds import (
    BoundsError,
    GroupShares,
    ShareRule,
    beta_tail,
    group_shares,
    smallest_n_2b,
    vovk_2b,
)

RULES: tuple[ShareRule, ...] = ("even", "size", "equal")
rules: st.SearchStrategy[ShareRule] = st.sampled_from(RULES)


def spent(found: GroupShares, alpha: float) -> float:
    return math.fsum(float(beta_tail(n, k, alpha)) for n, k in zip(found.counts, found.ranks, strict=True) if k)


def lost(found: GroupShares, alpha: float) -> float:
    """What the rule ``size`` makes small: the mean of log(alpha / level), each row of a group counted."""
    rows = np.array(found.counts)
    with np.errstate(divide="ignore"):
        return float(rows @ np.log(alpha * (rows + 1) / np.array(found.ranks)) / rows.sum())


@pytest.mark.parametrize(("groups", "level"), [(1, 0.089), (5, 0.067), (10, 0.050)])
def test_levels_that_were_computed_elsewhere(groups: int, level: float) -> None:
    found = group_shares([2000 // groups] * groups, 0.1, 0.05, "equal")
    assert {round(k / (2000 // groups + 1), 3) for k in found.ranks} == {level}
    assert found.shares == (0.05 / groups,) * groups


@given(
    st.lists(st.integers(0, 6000), min_size=1, max_size=12),
    st.sampled_from([0.01, 0.1, 0.4]),
    st.sampled_from([1e-9, 0.05, 0.3, 0.9]),
    rules,
)
@settings(max_examples=60, deadline=None)
def test_shares_add_up_to_delta_and_pay_for_the_ranks_of_vovk_2b(
    counts: list[int], alpha: float, delta: float, rule: ShareRule
) -> None:
    found = group_shares(counts, alpha, delta, rule)
    assert found.counts == tuple(counts)
    served = [(n, k, share) for n, k, share in zip(counts, found.ranks, found.shares, strict=True) if k]
    for n, k, share in served:
        assert vovk_2b(n, alpha, share) == k
    assert all(share == 0 for share, k in zip(found.shares, found.ranks, strict=True) if not k)
    if served:
        assert math.fsum(found.shares) == pytest.approx(delta, rel=1e-12)
    assert spent(found, alpha) <= delta * (1 + 1e-12)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=8), st.sampled_from([0.05, 0.1, 0.3]), rules)
@settings(max_examples=60, deadline=None)
def test_groups_without_a_finite_threshold_are_the_smallest_and_know_what_they_lack(
    counts: list[int], alpha: float, rule: ShareRule
) -> None:
    found = group_shares(counts, alpha, 0.05, rule)
    without = [n for n, k in zip(counts, found.ranks, strict=True) if k == 0]
    assert max(without, default=-1) <= min((n for n, k in zip(counts, found.ranks, strict=True) if k), default=10**9)
    assert all((lack > 0) == (k == 0) for lack, k in zip(found.lacking, found.ranks, strict=True))
    # A group that has its rows may live on the share of one that has too few: all of them need as many.
    filled = [max(n, found.rows_needed) for n in counts]
    assert all(group_shares(filled, alpha, 0.05, rule).ranks)
    assert found.rows_needed == smallest_n_2b(alpha, 0.05 / len(counts))


@given(st.integers(2, 10**6), st.sampled_from([0.01, 0.1, 0.5]), st.sampled_from([1e-9, 0.05, 0.8]), rules)
@settings(max_examples=60, deadline=None)
def test_one_group_is_vovk_2b(n: int, alpha: float, delta: float, rule: ShareRule) -> None:
    found = group_shares([n], alpha, delta, rule)
    assert found.ranks == ((int(vovk_2b(n, alpha, delta)),) if n >= smallest_n_2b(alpha, delta) else (0,))


def test_a_group_served_at_equality_is_served() -> None:
    for n in range(2, 50):
        assert group_shares([n], 0.5, 2.0**-n).ranks == (1,)


@pytest.mark.parametrize(
    "counts", [(5000, 500, 500, 100, 50), (50, 100, 200, 500, 1000, 2000, 5000), (300, 200, 100), (5000, *(60,) * 9)]
)
def test_shares_for_size_lose_less_than_equal_ones(counts: tuple[int, ...]) -> None:
    even, size, equal = (group_shares(counts, 0.1, 0.05, rule) for rule in RULES)
    assert lost(size, 0.1) < 0.98 * lost(equal, 0.1)
    assert lost(size, 0.1) <= lost(even, 0.1) + 1e-9
    assert lost(even, 0.1) <= lost(equal, 0.1)


@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=9), st.sampled_from([0.05, 0.1, 0.3]))
@settings(max_examples=60, deadline=None)
def test_even_shares_leave_no_group_worse_off_than_equal_ones(counts: list[int], alpha: float) -> None:
    even, equal = group_shares(counts, alpha, 0.05), group_shares(counts, alpha, 0.05, "equal")
    assert all(k >= least for k, least in zip(even.ranks, equal.ranks, strict=True))
    for group, rank in enumerate(even.ranks):
        more = tuple(k + (g == group) for g, k in enumerate(even.ranks))
        if 0 < rank < counts[group]:
            assert spent(GroupShares(even.counts, (), more, 0), alpha) > 0.05 * (1 - 1e-9)


def test_no_ranks_of_small_groups_lose_less_by_more_than_one_rank_of_one_of_them() -> None:
    counts, alpha, delta = (60, 90, 140), 0.15, 0.1
    best = min(
        lost(GroupShares(counts, (), ranks, 0), alpha)
        for ranks in itertools.product(range(1, 9), range(1, 14), range(1, 21))
        if sum(float(beta_tail(n, k, alpha)) for n, k in zip(counts, ranks, strict=True)) <= delta
    )
    found = group_shares(counts, alpha, delta, "size")
    one_rank = 60 * math.log(1 + 1 / found.ranks[0]) / sum(counts)
    assert best <= lost(found, alpha) <= best + one_rank
    for group in range(3):
        more = tuple(k + (g == group) for g, k in enumerate(found.ranks))
        assert spent(GroupShares(counts, (), more, 0), alpha) > delta


def test_a_small_group_is_served_before_large_ones_get_more() -> None:
    assert group_shares([5000, 29], 0.1, 0.05, "size").ranks == (442, 1)
    assert group_shares([5000, 29], 0.1, 0.05, "equal").ranks == (int(vovk_2b(5000, 0.1, 0.05)), 0)
    assert group_shares([5000, 10, 0, 1], 0.1, 0.05).lacking == (0, 32, 42, 41)
    assert group_shares([3], 0.1, 0.05) == GroupShares((3,), (0.0,), (0,), 29)


def test_large_counts_and_many_groups_are_no_harder() -> None:
    found = group_shares([10**12, 10**8, 1000], 0.1, 0.05)
    assert [vovk_2b(n, 0.1, share) for n, share in zip(found.counts, found.shares, strict=True)] == list(found.ranks)
    many = group_shares(np.random.default_rng(0).integers(0, 5000, 150), 0.1, 0.05)
    assert spent(many, 0.1) <= 0.05


def test_what_small_groups_leave_to_many_large_ones_is_not_bought_rank_by_rank() -> None:
    # Millions of ranks: one by one they would take longer than anybody waits.
    counts = [10**11] * 100 + [100] * 100
    found = group_shares(counts, 0.1, 0.05)
    assert sum(found.ranks) - sum(group_shares(counts, 0.1, 0.05, "equal").ranks) > 1_000_000
    assert 0.049 < spent(found, 0.1) <= 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 0.1, 0.05), "one number for each group"),
        ((100, 0.1, 0.05), "one number for each group"),
        (([[100, 200]], 0.1, 0.05), "one number for each group"),
        (([100, -1], 0.1, 0.05), "counts must be at least 0"),
        (([100, 2.5], 0.1, 0.05), "counts must be a whole number"),
        (([100, math.nan], 0.1, 0.05), "counts must be a number"),
        ((["many"], 0.1, 0.05), "counts must be a number"),
        (([100], 0.0, 0.05), "alpha must lie strictly"),
        (([100], [0.1, 0.2], 0.05), "alpha must be one number"),
        (([100], 0.1, 1.0), "delta must lie strictly"),
        (([100], 0.1, [0.05]), "delta must be one number"),
        (([100], 0.1, 0.05, "fair"), "rule must be one of even, size, equal"),
        (([100], 0.1, 0.05, ["size"]), "rule must be one of even, size, equal"),
        (([100], 1e-300, 0.05), "no number of calibration points is enough"),
    ],
)
def test_arguments_outside_the_domain_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(BoundsError, match=message):
        group_shares(*arguments)
