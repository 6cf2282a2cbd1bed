"""Members are drawn by their weights, from any randomness; without weights as they always were."""

import secrets

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from certiset.core.data.arrays import check_data
from certiset.core.errors import DamagedFileError, DataError, UncoveredError
from certiset.core.fit import Predictor
from certiset.core.fit.member_choice import MemberChoice
from certiset.core.fit.served_rows import check_served_rows
from certiset.core.fit.splitting import split
from tests.core.fit.pools import hand_pool
from tests.core.fit.problems import class_data, class_model

WEIGHTS = [0.1, 0.25, 0.65]
ROWS = 60_000


@pytest.fixture(scope="module")
def pool() -> Predictor:
    return hand_pool(class_model(), *class_data(1000, 0), sizes=[150, 150, 300], weights=WEIGHTS, spread=0.3)


def fits(members: np.ndarray, weights: list[float]) -> bool:
    """A chi-square test that one in a hundred thousand fails."""
    return bool(chisquare(np.bincount(members, minlength=len(weights)), len(members) * np.array(weights)).pvalue > 1e-5)


@pytest.mark.parametrize("generator", [np.random.default_rng(0), torch.Generator().manual_seed(0), None])
def test_members_are_drawn_by_their_weights(generator: np.random.Generator | torch.Generator | None) -> None:
    drawn = MemberChoice(3, WEIGHTS).drawn(ROWS, generator)
    assert drawn.dtype == np.int64
    assert fits(drawn, WEIGHTS)
    assert not fits(drawn, [0.12, 0.25, 0.63])


def test_one_row_at_a_time_is_drawn_by_the_weights_too(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = MemberChoice(3, WEIGHTS)
    bits = iter(np.random.default_rng(1).integers(2**64, size=20_000, dtype=np.uint64).tolist())
    monkeypatch.setattr(secrets, "randbits", lambda count: next(bits) if count == 64 else None)
    assert fits(np.concatenate([choice.drawn(1) for _ in range(20_000)]), WEIGHTS)


def test_numbers_are_laid_side_by_side() -> None:
    choice, whole = MemberChoice(3, [0.25, 0.5, 0.25]), 2**64
    edges = [0, whole // 4 - 1, whole // 4, 3 * whole // 4 - 1, 3 * whole // 4, whole - 1]
    assert choice.of_numbers(np.array(edges, dtype=np.uint64)).tolist() == [0, 0, 1, 1, 2, 2]
    assert choice.chances.tolist() == [0.25, 0.5, 0.25]
    one = MemberChoice(2, [1 - 1e-12, 1e-12])
    assert one.of_numbers(np.array([0, whole - 1], dtype=np.uint64)).tolist() == [0, 1]


def test_without_weights_a_seed_draws_the_members_that_it_always_drew() -> None:
    choice = MemberChoice(7, None)
    by_numpy = choice.drawn(200, np.random.default_rng(5))
    assert np.array_equal(by_numpy, np.random.default_rng(5).integers(7, size=200))
    by_torch = choice.drawn(200, torch.Generator().manual_seed(5))
    assert np.array_equal(by_torch, torch.randint(7, (200,), generator=torch.Generator().manual_seed(5)).numpy())
    numbers = np.array([0, 6, 7, 2**64 - 1], dtype=np.uint64)
    assert choice.of_numbers(numbers).tolist() == [0, 6, 0, (2**64 - 1) % 7]
    assert fits(choice.drawn(7000), [1 / 7] * 7)
    assert {int(choice.drawn(1)[0]) for _ in range(300)} == set(range(7))


def test_the_same_seed_draws_the_same_members(pool: Predictor) -> None:
    for seeded in (lambda: np.random.default_rng(3), lambda: torch.Generator().manual_seed(3)):
        assert np.array_equal(pool.draw_members(50, generator=seeded()), pool.draw_members(50, generator=seeded()))
    assert pool.draw_members(8, generator=np.random.default_rng(3)).tolist() == [0, 1, 2, 2, 0, 2, 2, 1]
    with pytest.raises(DataError, match="NumPy's or torch's"):
        pool.draw_members(5, generator=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.5, 0.5, 0.5], [0.0, 0.5, 0.5], [1.5, -0.25, -0.25], [], [0.3] * 3])
def test_weights_that_are_none_serve_nothing(weights: list[float]) -> None:
    with pytest.raises(DamagedFileError, match="weights"):
        MemberChoice(3, weights)


def test_a_predictor_serves_by_the_weights_of_its_certificate(pool: Predictor) -> None:
    assert pool.chances.tolist() == WEIGHTS
    assert fits(pool.draw_members(ROWS), WEIGHTS)
    x = class_data(3000, 9)[0]
    sizes = [float(pool.predict_set(x, member=m).size.mean()) for m in range(3)]
    served = pool.predict_set(x, generator=np.random.default_rng(0)).size.mean()
    assert served == pytest.approx(float(np.dot(WEIGHTS, sizes)), abs=0.05)


def test_fresh_sizes_are_certified_by_the_weights(pool: Predictor) -> None:
    x = class_data(2000, 4)[0]
    statement = pool.certify_size(x)
    assert statement.sizes.weights == WEIGHTS
    each = [float(pool.predict_set(x, member=m).size.mean()) for m in range(3)]
    assert len(set(each)) > 1
    mean = float(np.dot(WEIGHTS, each))
    assert mean <= statement.sizes.empirical <= mean + 1 / 1024
    assert statement.verify().valid


def test_each_member_is_looked_at_on_its_own_block(pool: Predictor) -> None:
    """The last look before a certificate counts truths among the rows that a rank is for."""
    model, ranks = pool.scorer.model, [member.k for member in pool.certificate.members]
    data = check_data(model, *class_data(1000, 0), allow_missing_classes=False)
    blocks = list(torch.split(split(0, 400, data).calibration, [150, 150, 300]))
    assert 0 <= check_served_rows(pool, data, blocks, ranks, lambda: None) < 0.5
    for member, rows in enumerate((150, 150, 300)):
        too_low = [1 if place == member else rank for place, rank in enumerate(ranks)]
        with pytest.raises(UncoveredError, match=f"member {member} contain .* of the {rows} calibration truths"):
            check_served_rows(pool, data, blocks, too_low, lambda: None)
