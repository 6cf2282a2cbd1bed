"""Units for the inputs of a network that is made from nothing: tiny or distant numbers would leave it flat.

A random start takes inputs of about the size 1 around 0 for granted. Columns that are not so on the rows that tune are
moved and multiplied; all others stay as they are. The constants depend on no calibration row, and are part of the
members.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from certiset.core.errors import DamagedFileError

_USUAL_SPREAD = (1 / 16, 8.0)
_FARTHEST = 8.0
_USUAL_CENTER = 8.0


@dataclass(frozen=True)
class InputUnits:
    """x becomes (x - center) factor, column by column."""

    center: tuple[float, ...]
    factor: tuple[float, ...]
    """powers of two, so that multiplying loses nothing"""

    @classmethod
    def of(cls, features: Tensor) -> "InputUnits | None":
        """For inputs like these (n, inputs); None where all of them are of the usual size."""
        values = features[:_MOST_ROWS].detach().cpu().double().numpy()
        # In NumPy, since torch takes quantiles of so many numbers at most.
        low, high = torch.from_numpy(np.quantile(values, _WITHIN, axis=0))
        center = (low + high) / 2
        farthest = (torch.from_numpy(values) - center).abs().amax(dim=0)
        # A column that is 0 but for a few rows is not blown up: those few would drown all others.
        spread = torch.maximum((high - low) / 4, farthest / _FARTHEST)
        smallest, largest = _USUAL_SPREAD
        varies = spread > 0
        odd = varies & ((spread < smallest) | (spread > largest) | (center.abs() > _USUAL_CENTER))
        odd |= ~varies & (center.abs() > _USUAL_CENTER)
        if not odd.any() or not torch.isfinite(spread).all():
            return None
        exponent = torch.where(varies, -spread.clamp(min=_TINY).log2().round(), 0.0).clamp(-_REACH, _REACH)
        factor = torch.where(odd, torch.exp2(exponent), 1.0)
        middle = torch.where(odd, center, 0.0).float().double()
        return cls(tuple(middle.tolist()), tuple(factor.tolist()))

    def applied(self, x: Tensor) -> Tensor:
        """To (..., inputs)."""
        key = (x.device, x.dtype)
        if key not in self._tensors:
            self._tensors[key] = (x.new_tensor(self.center), x.new_tensor(self.factor))
        center, factor = self._tensors[key]
        return (x - center) * factor

    def to_json(self) -> dict[str, Any]:
        return {"center": list(self.center), "factor": list(self.factor)}

    @classmethod
    def from_json(cls, described: Any, inputs: int) -> "InputUnits":
        if not isinstance(described, dict) or set(described) != {"center", "factor"}:
            raise DamagedFileError("the units of its scale are invalid.")
        columns = [described["center"], described["factor"]]
        if not all(isinstance(column, list) and len(column) == inputs for column in columns):
            raise DamagedFileError("the units of its scale do not fit its inputs.")
        if not all(type(value) is float for column in columns for value in column) or min(columns[1]) <= 0:
            raise DamagedFileError("the units of its scale are invalid.")
        return cls(*map(tuple, columns))

    @cached_property
    def _tensors(self) -> dict[tuple[torch.device, torch.dtype], tuple[Tensor, Tensor]]:
        """The constants where they were needed, copied once."""
        return {}


_MOST_ROWS = 2000
_WITHIN = (0.02, 0.98)
_TINY = 1e-300
_REACH = 100.0
