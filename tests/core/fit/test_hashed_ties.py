"""Ties broken by a hash: thresholds that are pairs, in order, and safe from what floats do to scores."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.fit.hashed_ties import HashedTies
from certiset.core.fit.rows import Rows
from certiset.core.fit.ties import TOGETHER, Threshold

TIES = HashedTies.of_fit(0, torch.float32)
WIDTH = TIES.width
CLASSES = 5


def rows(count: int, seed: int = 0) -> Rows:
    """Distinct rows; what their scores are, the tests say."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 2)).astype(np.float32)
    y = torch.from_numpy(rng.integers(CLASSES, size=count))
    return Rows(torch.from_numpy(x), torch.zeros(count, CLASSES), y, TIES.digests(x, torch.float32))


def few_values(count: int, values: int, seed: int, offset: float = 0.0) -> Tensor:
    """Scores on so many neighbouring cells, moved by a part of a cell."""
    return torch.from_numpy(np.random.default_rng(seed).integers(values, size=count) + offset).float() * WIDTH


def hashes_of(found: Rows) -> NDArray[np.float64]:
    assert found.digests is not None
    return TIES.hashes.of_labels(found.digests, found.y.numpy(), CLASSES)


def threshold(tau: float, tie: float) -> Threshold:
    return Threshold(torch.tensor([tau]), torch.tensor([tie], dtype=torch.float64))


def test_a_cell_is_far_wider_than_rounding_and_far_narrower_than_what_matters() -> None:
    assert HashedTies.of_fit(0, torch.float32).width == 2.0**-8
    assert HashedTies.of_fit(0, torch.float64).width == 2.0**-37
    assert HashedTies.of_fit(1, torch.float32).hashes != TIES.hashes


@pytest.mark.parametrize("values", [1, 3, 1000])
def test_exactly_so_many_truths_are_within_as_the_rank_says(values: int) -> None:
    """Also where all scores are equal, of which no other threshold could leave some out."""
    found, scores = rows(300), few_values(300, values, 1)
    for rank in (1, 17, 150, 300):
        at = TIES.threshold(scores, found, rank)
        assert int(TIES.within(scores, found, at).sum()) == 300 + 1 - rank
        pairs = sorted(zip((scores / WIDTH).tolist(), hashes_of(found).tolist(), strict=True))
        assert at.tie is not None
        assert (float(at.tau) / WIDTH - 0.5, float(at.tie)) == pairs[300 - rank]
        together = TOGETHER.threshold(scores, found, rank)
        assert int((scores <= together.tau).sum()) >= 300 + 1 - rank


def test_equal_rows_with_equal_labels_stay_together() -> None:
    found = rows(40).take(torch.arange(40).repeat(5))
    scores = torch.zeros(200)
    at = TIES.threshold(scores, found, rank=18)
    within = TIES.within(scores, found, at)
    assert int(within.sum()) == 185
    assert torch.equal(within, within[:40].repeat(5))


def test_labels_are_let_in_as_truths_are() -> None:
    found, scores = rows(100), few_values(100 * CLASSES, 4, 2).view(1, 100, CLASSES)
    at = TIES.threshold(few_values(100, 4, 3), found, rank=20)
    masks = TIES.masks(scores, at, found.digests)[0]
    own = torch.arange(100), found.y
    assert torch.equal(masks[own], TIES.within(scores[0][own], found, at))
    assert 0 < int(masks.sum()) < 100 * CLASSES


def random_thresholds(rng: np.random.Generator, count: int) -> list[Threshold]:
    """In and out of the fixed family, with slack of any size."""
    cells, slack = rng.integers(-3, 4, size=count), rng.choice([0, 0.01, 0.5, 3], size=count) * rng.random(count)
    return [
        threshold(float((cell + 0.5 + more) * WIDTH), float(tie))
        for cell, more, tie in zip(cells, slack, rng.choice([0.1, 0.4, 0.8], size=count), strict=True)
    ]


def let_in(at: Threshold) -> NDArray[Any]:
    """A picture of what it lets in: scores around a few cells, hashes of many rows."""
    found, scores = rows(60), torch.linspace(-5, 8, 521).mul(WIDTH).float()
    every = scores.view(-1, 1, 1).expand(-1, 60, CLASSES)
    return np.asarray(TIES.masks(every, at, found.digests).numpy())


def test_a_threshold_covers_another_if_and_only_if_it_lets_in_all_of_it() -> None:
    found = random_thresholds(np.random.default_rng(0), 14)
    pictures = [let_in(at) for at in found]
    for larger, shown in zip(found, pictures, strict=True):
        for smaller, inner in zip(found, pictures, strict=True):
            if bool(TIES.covers(larger, smaller)):
                assert not (inner & ~shown).any()
            elif not bool(TIES.covers(larger, smaller._replace(tau=smaller.tau - WIDTH / 20))):
                assert (inner & ~shown).any()


def test_the_fixed_family_is_in_order_and_reaches_over_every_threshold() -> None:
    values = torch.linspace(-3, 3, 41) * WIDTH
    family = [TIES.at(value.view(1)) for value in values]
    pictures = [let_in(at) for at in family]
    for smaller, larger, inner, outer in zip(family[:-1], family[1:], pictures[:-1], pictures[1:], strict=True):
        assert bool(TIES.covers(larger, smaller))
        assert not (inner & ~outer).any()
    for at in random_thresholds(np.random.default_rng(1), 20):
        up = TIES.rounded_up(at)
        assert bool(TIES.covers(up, at))
        part = float(up.tau) / WIDTH - 0.5 - 1 / 32
        assert part == round(part)
        assert float(up.tau) - float(at.tau) < WIDTH * (1 + 1e-6)
    everything = TIES.at(torch.tensor([torch.inf]))
    assert let_in(everything).all()
    assert bool(TIES.covers(everything, family[-1]))


@pytest.mark.parametrize("offset", [0.0, 0.5, 0.5 + 1e-6, -0.5 + 1e-6], ids=["centre", "edge", "above", "below"])
@pytest.mark.parametrize("noise", [1e-6, 0.02, 0.4, 3.0])
def test_no_truth_is_lost_by_rounding_wherever_the_cells_lie(offset: float, noise: float) -> None:
    """The docstring's proof: scores off by e on D_N and by e' when served, in whatever way, with r = e + e'."""
    found, later = rows(200), rows(2000, seed=7)
    rng, rank = np.random.default_rng(3), 30
    exact, exact_later = few_values(200, 6, 4, offset).double(), few_values(2000, 6, 5, offset).double()
    e = noise * WIDTH / 2
    for moves in (rng.uniform(-1, 1, 200), rng.choice([-1, 1], 200), -np.ones(200)):
        at = TIES.threshold(exact + e * torch.from_numpy(moves), found, rank)
        raised = at._replace(tau=at.tau + 2 * e * (1 + 1e-9))
        # The pair of that rank by the exact scores, with cells whose edges are moved up by e.
        cells = np.floor((exact.numpy() - e) / WIDTH + 0.5)
        place = np.lexsort((hashes_of(found), cells))[200 - rank]
        limit = (cells[place], hashes_of(found)[place])
        later_cells = np.floor((exact_later.numpy() - e) / WIDTH + 0.5)
        promised = [pair <= limit for pair in zip(later_cells, hashes_of(later), strict=True)]
        for shift in (e, -e, 0.0):
            served = TIES.within(exact_later + shift, later, raised).numpy()
            assert not (np.array(promised) & ~served).any()


def test_slack_that_is_a_small_part_of_a_cell_lets_in_nothing_more() -> None:
    """So that coverage is exact, and not only safe."""
    found, later = rows(200), rows(2000, seed=7)
    at = TIES.threshold(few_values(200, 6, 4), found, rank=30)
    raised = at._replace(tau=at.tau + WIDTH / 50)
    scores = few_values(2000, 6, 5)
    assert torch.equal(TIES.within(scores, later, raised), TIES.within(scores, later, at))


def test_bisection_resolves_cells_in_either_precision() -> None:
    assert TIES.halvings == TOGETHER.halvings
    assert HashedTies.of_fit(0, torch.float64).halvings == TOGETHER.halvings + 29


@pytest.mark.parametrize(
    ("tie", "sound"),
    [
        (torch.tensor([0.0, 0.5], dtype=torch.float64), True),
        (torch.tensor([0.0, 1.0], dtype=torch.float64), False),
        (torch.tensor([-0.1, 0.5], dtype=torch.float64), False),
        (torch.tensor([torch.nan, 0.5], dtype=torch.float64), False),
        (torch.tensor([0.5], dtype=torch.float64), False),
        (torch.tensor([0.0, 0.5]), False),
        (None, False),
    ],
)
def test_what_may_be_stored(tie: Tensor | None, sound: bool) -> None:
    assert TIES.accepts((2,), tie) is sound
    assert TOGETHER.accepts((2,), tie) is (tie is None)
