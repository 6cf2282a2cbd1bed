"""Shares and ranks of groups in the blocks of a pool: from the counts alone, and each paid for by its share."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certiset.core.bounds import BoundsError, group_shares, pool_group_shares, progressive_ranks, progressive_tail

rows_of_groups = st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900)), min_size=1, max_size=5)


@given(rows_of_groups, st.sampled_from([0.05, 0.1, 0.3]), st.sampled_from([0.02, 0.1, 0.4]), st.floats(0.2, 0.8))
@settings(max_examples=30, deadline=None)
def test_every_group_is_paid_for_by_its_share_and_all_shares_by_delta(
    counts: list[tuple[int, int]], alpha: float, delta: float, first: float
) -> None:
    weights = (first, 1 - first)
    found = pool_group_shares(counts, alpha, delta, weights)
    assert found.counts == tuple(counts)
    assert math.fsum(found.shares) <= delta * (1 + 1e-12)
    for rows, ranks, share, lacking in zip(counts, found.ranks, found.shares, found.lacking, strict=True):
        assert all(ranks) or not any(ranks), "in all blocks or in none"
        assert (share > 0) == any(ranks) == (lacking == 0)
        if any(ranks):
            assert progressive_tail(rows, ranks, alpha, weights) <= share
            assert ranks == progressive_ranks(rows, alpha, share, weights)


def test_a_single_group_has_the_ranks_of_a_pool() -> None:
    assert pool_group_shares([[250, 250]], 0.1, 0.05, [0.5, 0.5]).ranks == (progressive_ranks([250, 250], 0.1, 0.05),)


def test_the_level_is_nearly_that_of_one_block() -> None:
    counts = [[300, 300], [200, 200], [500, 500]]
    found, alone = pool_group_shares(counts, 0.1, 0.05, [0.5, 0.5]), group_shares([600, 400, 1000], 0.1, 0.05)
    for ranks, rank in zip(found.ranks, alone.ranks, strict=True):
        assert abs(sum(ranks) - rank) <= 3


def test_a_group_without_rows_in_some_block_leaves_its_share_to_the_others() -> None:
    with_it = pool_group_shares([[400, 400], [100, 0]], 0.1, 0.05, [0.5, 0.5])
    assert with_it.ranks[1] == (0, 0)
    assert with_it.ranks[0] == progressive_ranks([400, 400], 0.1, 0.05)
    assert with_it.lacking[0] == 0
    assert with_it.lacking[1] >= 1


def test_so_many_rows_are_enough_whatever_the_others_have() -> None:
    few = pool_group_shares([[5, 5], [400, 400], [400, 400]], 0.1, 0.05, [0.5, 0.5])
    each = few.rows_needed // 2
    assert any(pool_group_shares([[each, each], [400, 400], [400, 400]], 0.1, 0.05, [0.5, 0.5]).ranks[0])
    assert few.lacking == (few.rows_needed - 10, 0, 0)


@pytest.mark.parametrize("first", [0.5, 0.8])
@pytest.mark.parametrize("others", [100, 500, 5000])
def test_they_are_enough_beside_a_group_of_any_size(others: int, first: float) -> None:
    """By shares for one block, 26 rows in each of two blocks have too little beside 500."""
    weights = [first, 1 - first]
    each = pool_group_shares([[2, 2], [others, others]], 0.1, 0.05, weights).rows_needed // 2
    found = pool_group_shares([[each, each], [others, others]], 0.1, 0.05, weights)
    assert all(map(any, found.ranks))
    assert math.fsum(found.shares) <= 0.05 * (1 + 1e-12)


@pytest.mark.parametrize("counts", [[], [3, 4], [[3]], [[-1, 2]], [[0.5, 2]]])
def test_counts_are_those_of_each_group_in_two_blocks_or_more(counts: list[object]) -> None:
    with pytest.raises(BoundsError):
        pool_group_shares(np.array(counts), 0.1, 0.05, [0.5, 0.5])
