"""The rank of the size that few sets exceed: what is paid for, and what would happen if it were not."""

import numpy as np
import pytest

from benchmarks.evidence.promises.margin import within_margin
from benchmarks.evidence.promises.size_quantile import simulate
from certiset.core.bounds import DomainError, beta_tail, size_quantile_rank, vovk_2b


def test_for_one_statement_it_is_the_rank_of_vovk_2b() -> None:
    for n in (100, 500):
        assert size_quantile_rank(n, 0.1, 0.05) == vovk_2b(n, 0.1, 0.05)
        assert size_quantile_rank(n, 0.1, 0.05, grid_size=9) == vovk_2b(n, 0.1, 0.05 / 9)
    assert size_quantile_rank(20, 0.1, 0.05) == 0, "too few points for any rank"


def test_a_draw_from_a_posterior_pays_for_its_density_and_for_the_ranks_that_were_open() -> None:
    ratios = np.array([-1.0, 0.0, 2.0, 5.0, 40.0])
    ranks = np.asarray(size_quantile_rank(500, 0.1, 0.05, ratios, draws=8, grid_size=9))
    assert np.all(np.diff(ranks) <= 0)
    assert ranks[-1] == 0
    for rank, ratio in zip(ranks[:-1].tolist(), ratios.tolist(), strict=False):
        assert beta_tail(500, rank, 0.1, log=True) + ratio <= np.log(0.05 / (8 * 9 * 8)) + 1e-12
    assert ranks[1] < size_quantile_rank(500, 0.1, 0.05, draws=8, grid_size=9)
    with pytest.raises(DomainError, match="every draw must be paid for"):
        size_quantile_rank(500, 0.1, 0.05, ratios, draws=2)
    with pytest.raises(DomainError, match="one calibration"):
        size_quantile_rank([500, 600], 0.1, 0.05, ratios, draws=8)


def test_an_adversary_who_chooses_the_posterior_breaks_it_only_where_ranks_are_not_paid_for() -> None:
    (paid,) = simulate(runs=2000, seed=3, gamma=0.05, threshold="drawn")
    (unpaid,) = simulate(runs=2000, seed=3, gamma=0.05, threshold="unpaid")
    assert within_margin(paid.broken, paid.made, 0.05)
    assert unpaid.broken > 3 * 0.05 * unpaid.made


def test_whoever_chooses_the_threshold_may_look_at_the_rows() -> None:
    (found,) = simulate(runs=2000, seed=4, gamma=0.05, threshold="labels")
    assert within_margin(found.broken, found.made, 0.05)
