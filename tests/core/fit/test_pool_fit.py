"""The blocks of a pool."""

from hypothesis import given
from hypothesis import strategies as st

from certiset.core.fit.pool_fit import SMALLEST_BLOCK, block_sizes


@given(st.integers(1, 10**6))
def test_blocks_are_all_rows_nearly_equal_and_none_is_small_unless_it_is_alone(n: int) -> None:
    blocks = block_sizes(n)
    assert sum(blocks) == n
    assert max(blocks) - min(blocks) <= 1
    assert len(blocks) == 1 or min(blocks) >= SMALLEST_BLOCK
    assert len(blocks) == (2 if n >= 2 * SMALLEST_BLOCK else 1)
