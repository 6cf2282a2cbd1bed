"""The unit in which targets are computed: a power of two of about the size of the model's errors.

Floats have a largest and a smallest number. Targets of 1e-46 are zeros in float32, and the squares of numbers of 1e-23
are; sets around such targets would miss them all. In units of 2^e, with errors near 1, neither can happen.

Which power is taken changes no set. Multiplying a float by a power of two is exact as long as nothing over- or
underflows, and all regression scores s are equivariant: s(2^-e f, 2^-e y) = 2^-e s(f, y), in floats as in numbers,
since every operation in them (differences, maxima, sums of squares and their root, quotients by a scale without unit)
commutes with the factor. Hence the order of the scores of any rows is the same for every e, so is the rank of each, and
the threshold and the ends of the sets are multiplied by exactly 2^-e, and then by 2^e again. A choice that changes no
rank may rest on any data, D_N included. It is nevertheless taken from D_0 where there is one, since the grid on which
thresholds are rounded up for the size certificate is laid out in this unit, and must be fixed before D_N is seen.
Without D_0 the points of that grid are multiples of the given cap, times powers of two whatever the unit.

What does underflow (a number 2^126 times smaller than the others, in float32) is covered by a floor under the rounding
slack, so that it costs width and not coverage.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.errors import DataError
from certiset.core.scores import Score

_SMALLEST = -960
"""exponent of targets whose last places are still normal float64 numbers"""
_BELOW_MAGNITUDE = 60
"""places: smaller errors are rounding"""
_DIGITS = 24
"""places that a small number should have"""


def target_exponent(score: Score, y: NDArray[np.floating], outputs: Tensor, rows: Tensor) -> int:
    """e of the unit 2^e, by targets y (n, d) and outputs (n, k) of the given rows; 0 for labels, which have none."""
    if not score.is_equivariant:
        return 0
    y, found = y[rows.numpy()], outputs[rows.to(outputs.device)].detach().cpu().double().numpy()
    largest = np.maximum(np.abs(y).max(axis=1), np.abs(found).max(axis=1))
    magnitude = _middle_exponent(largest)
    if magnitude is None:
        return 0
    if magnitude < _SMALLEST:
        raise DataError(
            f"y is too small: numbers like {np.median(np.abs(y)):.3g} have few digits left as floats. Rescale y and "
            "the model's outputs, for instance by giving them in another unit.",
            field="y",
        )
    _check_digits(y, found, outputs.dtype)
    with np.errstate(over="ignore"):
        errors = _middle_exponent(np.abs(y - found).max(axis=1))
    return magnitude if errors is None else max(errors, magnitude - _BELOW_MAGNITUDE)


def _middle_exponent(sizes: NDArray[np.float64]) -> int | None:
    """Of the median of those that are not 0; the upper one of two."""
    positive = np.sort(sizes[(sizes > 0) & np.isfinite(sizes)])
    return int(np.frexp(positive[len(positive) // 2])[1]) if len(positive) else None


def _check_digits(y: NDArray[np.floating], outputs: NDArray[np.float64], dtype: torch.dtype) -> None:
    """Predictions so small that they are rounded coarsely, or to 0 by some devices, and that yet matter."""
    largest = float(np.abs(outputs).max())
    smallest = float(torch.finfo(dtype).tiny) * 2.0**_DIGITS
    if 0 < largest < smallest and largest > float(np.abs(y).max()) * 2.0**-_DIGITS:
        precision = str(dtype).removeprefix("torch.")
        raise DataError(
            f"The model's outputs are too small for {precision}: numbers like {largest:.3g} have few digits left. "
            "Rescale y and the outputs, or choose float64.",
            field="y",
        )
