"""Numbers of JSON as the datatype that a tensor claims to have: what would become another number is refused."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.errors import OptionError

_FIELD = "inputs.0.data"


def cast_exactly(array: NDArray[Any], dtype: "np.dtype[Any]", datatype: str) -> NDArray[Any]:
    """The same numbers in another type. Floats may be rounded to the nearest, as the sender's own would be."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            cast = array.astype(dtype)
        _check(np.isfinite(cast) | ~np.isfinite(array), array, f"is too large for {datatype}")
        return cast
    if array.dtype.kind == "f":
        _check(array == np.floor(array), array, f"is no whole number, as {datatype} has them")
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    allowed = f"is outside of {datatype}, which reaches from {least} to {most}"
    # The largest integers have no float of their own; the next one above does not fit any more.
    below = array < float(most) + 1 if array.dtype.kind == "f" else array <= most
    _check((array >= least) & below, array, allowed)
    return array.astype(dtype)


def _check(fits: NDArray[np.bool_], array: NDArray[Any], problem: str) -> None:
    if not fits.all():
        first = np.unravel_index(int(np.argmin(fits)), array.shape)
        raise OptionError(f"data hold {array[first]:g}, which {problem}.", field=_FIELD)
