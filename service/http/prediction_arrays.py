"""What an .npz body asks: the array x, and beside it, if rows are named, the array case."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.formats.npz import read_arrays
from certiset.core.data.limits import Limits
from certiset.core.errors import DataError, OptionError, TooLargeError
from certiset.service.http.prediction_requests import SetQuery
from certiset.service.serving.case_hashes import LONGEST_CASE

_CASE = "case"
_LONGEST_BYTES = 4 * LONGEST_CASE
"""of a text in UTF-8, or in the four bytes a letter that NumPy takes"""


def read_npz(body: bytes, predictor: str | None, unpacked_bytes: int, max_rows: int) -> SetQuery:
    if predictor is None:
        raise OptionError("With an .npz body, name the predictor as ?predictor=ID.", field="predictor")

    def check(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> None:
        """Before the names are read: a list of them takes many times their size."""
        if dtype.kind not in "USiu" or dtype.itemsize > _LONGEST_BYTES:
            raise _error(f"must hold texts of at most {LONGEST_CASE} characters, or whole numbers, not {dtype}")
        if len(shape) != 1:
            raise _error(f"must have one entry for each row of x, not the shape {shape}")
        if shape[0] > max_rows:
            raise TooLargeError(f"At most {max_rows:,} rows are accepted at once.", field=_CASE)

    arrays = read_arrays(body, ["x"], Limits(unpacked_bytes=unpacked_bytes), optional={_CASE: check})
    x, cases = arrays["x"], arrays.get(_CASE)
    if cases is None:
        return SetQuery(predictor, x, None)
    if x.ndim and len(cases) != len(x):
        raise _error(f"has {len(cases):,} entries, and x has {len(x):,} rows: there must be one for each row")
    return SetQuery(predictor, x, None, _names(cases))


def _names(cases: NDArray[Any]) -> list[str]:
    if cases.dtype.kind in "iu":
        return [str(number) for number in cases.tolist()]
    try:
        found = cases.tolist()
        return [name.decode() for name in found] if cases.dtype.kind == "S" else found
    except (ValueError, SystemError):
        raise _error("holds something that is not text: bytes must be UTF-8") from None


def _error(what: str) -> DataError:
    return DataError(f"The array {_CASE} {what}.", field=_CASE)
