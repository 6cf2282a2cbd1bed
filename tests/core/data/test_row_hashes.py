"""Equal numbers have equal hashes, however they are stored, and others have others."""

import numpy as np
import pytest

from certiset.core.data.row_hashes import begun_hash, equal_row_codes, row_digest, row_digests, row_hashes

KEY = b"k" * 32


def test_the_same_rows_have_the_same_hashes_however_they_are_stored() -> None:
    x, y = np.array([[0.0, 0.1], [-0.0, 2.0]]), np.array([1, 2])
    meant = row_hashes(KEY, x, y)
    same = (
        (x.astype(np.float32), y),
        (x, y.astype(np.float32)),
        (np.asfortranarray(x), y[:, None]),
        (x.reshape(2, 1, 2), y.astype(np.uint8)),
        (np.abs(x), y),
    )
    for a, b in same:
        assert np.array_equal(row_hashes(KEY, a, b), meant)
    for a, b in ((x + 1e-3, y), (x, y + 1), (x[:, ::-1], y)):
        assert not np.any(row_hashes(KEY, a, b) == meant)
    assert not np.any(row_hashes(b"j" * 32, x, y) == meant), "another key makes other hashes"


@pytest.mark.parametrize("row", [[1, 2], [-0.0, 0.1], [np.nan, 1.0], [-np.nan, 1e-50], [np.inf, 1.0], [1e300, 3e38]])
@pytest.mark.parametrize("shape", [(1, 2), (1, 2, 1)])
def test_a_row_alone_has_the_digest_that_it_has_among_others(row: list[float], shape: tuple[int, ...]) -> None:
    begun, alone = begun_hash(KEY, b"input", b"prefix"), np.array(row).reshape(shape)
    others = np.concatenate([alone, np.ones(shape)])
    assert row_digest(begun, alone) == next(row_digests(begun, others))


def test_equal_rows_have_equal_codes_whatever_their_type_and_the_sign_of_zero() -> None:
    rows = np.array([[0.0, 1.5], [-0.0, 1.5], [0.0, 2.5]], dtype=np.float32)
    codes = equal_row_codes(rows)
    assert codes[0] == codes[1] != codes[2]
    assert np.array_equal(codes, equal_row_codes(rows.astype(np.float64)))
    assert np.array_equal(codes, equal_row_codes(rows.reshape(3, 2, 1)))
    assert equal_row_codes(np.array([[1, 2]])) == equal_row_codes(np.array([[1.0, 2.0]]))


def test_codes_tell_rows_apart_that_only_float64_can() -> None:
    rows = np.array([[0.1], [np.float64(np.float32(0.1))]])
    assert len(set(equal_row_codes(rows).tolist())) == 2
    assert len(set(row_hashes(KEY, rows).tolist())) == 1
