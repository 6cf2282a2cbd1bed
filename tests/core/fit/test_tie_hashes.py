"""The hash of a row and a label: of the numbers that the model sees, the same everywhere, and as good as uniform."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import kstest

from certiset.core.fit import tie_hashes
from certiset.core.fit.tie_hashes import RowHashes, is_key

HASHES = RowHashes.of_seed(0)
PRECISIONS = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])


def rows(count: int, columns: int = 3, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(count, columns)).astype(np.float32)


def hashes(x: NDArray[Any], label: int = 0, dtype: torch.dtype = torch.float32, of: RowHashes = HASHES) -> Any:
    return of.of_labels(of.digests(x, dtype), np.full(len(x), label), 4)


def test_it_never_changes() -> None:
    """Predictors are stored with their key and thresholds: another hash would give other sets.

    Computed by other code, with whole numbers of Python.
    """
    x = np.array([[0.5, -1.0, 3.0], [1e-30, 7.0, -2.5]])
    assert RowHashes.of_seed(0).key == "a4011d91161362c1f335527fa76ab382"
    assert hashes(x).tolist() == [0.04056100904928328, 0.26626168426801367]
    assert hashes(x, label=3, dtype=torch.float64).tolist() == [0.6741162397308469, 0.6823503395731265]


@PRECISIONS
def test_what_the_model_cannot_tell_apart_has_one_hash(dtype: torch.dtype) -> None:
    x = rows(20)
    expected = HASHES.digests(x, dtype)
    for same in (
        x.astype(np.float64),
        np.asfortranarray(x),
        x.reshape(20, 3, 1),
        np.concatenate([x, x], axis=1)[:, :3],
        x.astype(">f4").astype(np.float32),
    ):
        assert np.array_equal(HASHES.digests(same, dtype), expected)
    zeros = np.array([[0.0, -0.0], [-0.0, 0.0], [0.0, 0.0]])
    assert len(set(HASHES.digests(zeros, dtype).tolist())) == 1
    whole = np.arange(6).reshape(3, 2)
    for same in (whole.astype(np.uint8), whole.astype(np.float32), whole.astype(np.int64)):
        assert np.array_equal(HASHES.digests(same, dtype), HASHES.digests(whole, dtype))


def test_numbers_that_only_float64_tells_apart_are_one_row_in_float32() -> None:
    exact, nearest = np.array([[0.1]]), np.array([[np.float64(np.float32(0.1))]])
    assert HASHES.digests(exact, torch.float32) == HASHES.digests(nearest, torch.float32)
    assert HASHES.digests(exact, torch.float64) != HASHES.digests(nearest, torch.float64)


@PRECISIONS
def test_it_does_not_depend_on_the_rest_of_the_batch(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    x = rows(50)
    together = HASHES.digests(x, dtype)
    assert [int(HASHES.digests(x[row : row + 1], dtype)[0]) for row in range(50)] == together.tolist()
    within = HASHES.at_most(together, 4, np.array([0.3, 0.7]))
    monkeypatch.setattr(tie_hashes, "_NUMBERS_AT_ONCE", 7)
    assert np.array_equal(HASHES.digests(x, dtype), together)
    assert np.array_equal(HASHES.at_most(together, 4, np.array([0.3, 0.7])), within)


def test_at_most_says_what_the_numbers_say() -> None:
    digests = HASHES.digests(rows(200), torch.float32)
    each = np.stack([HASHES.of_labels(digests, np.full(200, label), 4) for label in range(4)], axis=1)
    limits = np.array([0.0, 0.25, each[17, 2], 1 - 2.0**-53])
    assert np.array_equal(HASHES.at_most(digests, 4, limits), each <= limits[:, None, None])
    assert HASHES.at_most(digests[:0], 4, limits).shape == (4, 0, 4)


@pytest.mark.parametrize(
    "x",
    [
        rows(20_000),
        np.arange(20_000.0)[:, None],
        np.stack(np.meshgrid(np.arange(150), np.arange(150)), axis=-1).reshape(-1, 2),
        np.log(np.random.default_rng(0).multinomial(40, [0.2, 0.3, 0.5], size=20_000) / 40 + 1e-3),
    ],
    ids=["normal", "whole numbers", "a grid", "votes"],
)
@PRECISIONS
def test_hashes_are_as_good_as_uniform_and_independent(x: NDArray[Any], dtype: torch.dtype) -> None:
    distinct = np.unique(x, axis=0)
    count = len(distinct)
    first, second = hashes(distinct, 0, dtype), hashes(distinct, 1, dtype)
    assert len({*first.tolist(), *second.tolist()}) == 2 * count
    for found in (first, second, (first - second) % 1, (first[1:] - first[:-1]) % 1):
        assert kstest(found, "uniform").pvalue > 1e-4
    assert kstest((first - hashes(distinct, 0, dtype, RowHashes.of_seed(1))) % 1, "uniform").pvalue > 1e-4


def test_what_may_be_a_key() -> None:
    assert is_key(HASHES.key)
    for other in ("", HASHES.key[:-1], HASHES.key.upper(), "g" * 32, None, 5, b"0" * 32):
        assert not is_key(other)
