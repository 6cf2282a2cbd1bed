import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln

from certiset.core.bounds import DomainError, miscoverage_interval


def test_before_the_first_outcome_everything_stands() -> None:
    assert miscoverage_interval(0, 0, 0.05) == (0.0, 1.0)


@given(st.integers(1, 10**7), st.floats(0, 1), st.sampled_from([0.001, 0.01, 0.05, 0.5]))
def test_the_ends_are_where_the_martingale_reaches_its_level(outcomes: int, share: float, eta: float) -> None:
    misses = round(share * outcomes)
    low, high = miscoverage_interval(outcomes, misses, eta)
    assert 0 <= low <= misses / outcomes <= high <= 1
    for end in (low, high):
        if 1e-12 < end < 1 - 1e-12:
            mixture = betaln(misses + 0.5, outcomes - misses + 0.5) - betaln(0.5, 0.5)
            level = mixture - misses * math.log(end) - (outcomes - misses) * math.log1p(-end)
            assert level == pytest.approx(-math.log(eta), rel=1e-5, abs=1e-3)


@given(st.integers(1, 1000), st.integers(0, 1000))
def test_misses_and_hits_are_mirror_images(outcomes: int, misses: int) -> None:
    misses = min(misses, outcomes)
    low, high = miscoverage_interval(outcomes, misses, 0.05)
    other_low, other_high = miscoverage_interval(outcomes, outcomes - misses, 0.05)
    assert low == pytest.approx(1 - other_high, abs=1e-9)
    assert high == pytest.approx(1 - other_low, abs=1e-9)


def test_wrong_counts_are_refused() -> None:
    for arguments in ((3, 4, 0.05), (-1, 0, 0.05), (3, 1, 0.0)):
        with pytest.raises(DomainError):
            miscoverage_interval(*arguments)
