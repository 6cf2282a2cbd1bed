"""Sizes in the unit of the targets: widths have that of y, volumes its power."""

import math
import sys
from dataclasses import dataclass

from certiset.core.errors import DataError
from certiset.core.fit.scorer import Scorer
from certiset.core.sets.measures import MEASURES


@dataclass(frozen=True)
class SizeUnit:
    exponent: int
    """sizes are computed in units of 2^exponent"""

    @classmethod
    def of(cls, scorer: Scorer) -> "SizeUnit":
        dimensions = scorer.model.outputs if MEASURES[scorer.score.sets.measure].is_power else 1
        return cls(scorer.exponent * dimensions)

    def multiply(self, sizes: list[float]) -> list[float]:
        """As they are stated; a size that floats cannot hold must not become 0, which would promise too much."""
        found = [self._times(size, self.exponent) for size in sizes]
        if any(given > 0 and size < sys.float_info.min for given, size in zip(sizes, found, strict=True)):
            raise DataError("the sizes of the sets are too small for floats: rescale y and the model's outputs.")
        return found

    def divide(self, size: float) -> float:
        found = self._times(size, -self.exponent)
        if not (0 < found < math.inf):
            raise DataError(f"size_cap = {size:g} is too far from the sizes of the sets for floats.", field="size_cap")
        return found

    @staticmethod
    def _times(size: float, exponent: int) -> float:
        try:
            return math.ldexp(size, exponent)
        except OverflowError:
            return math.inf
