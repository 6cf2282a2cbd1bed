"""Inputs that are known already: found in any order and precision, and not where inputs repeat honestly."""

import numpy as np
import pytest

from certiset.core.data.shared_rows import shared_rows

RNG = np.random.default_rng(0)
KNOWN = RNG.normal(size=(500, 3)).astype(np.float32)


@pytest.mark.parametrize("taken", [0, 5, 100, 500])
def test_the_share_is_counted_whatever_the_order_and_the_precision(taken: int) -> None:
    fresh = RNG.normal(size=(1000 - taken, 3)).astype(np.float32)
    x = RNG.permutation(np.concatenate([KNOWN[:taken], fresh])).astype(np.float64)
    assert shared_rows(x, KNOWN) == pytest.approx(taken / 1000)


def test_images_and_flat_rows_and_signs_of_zero_are_the_same() -> None:
    x = KNOWN.copy()
    x[:, 0] = 0.0
    turned = x.copy()
    turned[:, 0] = -0.0
    assert shared_rows(turned.reshape(500, 1, 3), x) == 1


def test_where_inputs_repeat_only_the_very_same_rows_are_recognised() -> None:
    first, second = RNG.integers(20, size=(2, 5000, 3))
    assert shared_rows(second, first) == 0
    assert shared_rows(RNG.permutation(first), first) == 1


def test_numbers_with_few_digits_do_not_meet_by_their_codes() -> None:
    whole = np.arange(200_000.0)
    assert shared_rows(np.stack([whole, -whole], axis=1), np.stack([whole + 1, -whole], axis=1)) == 0
