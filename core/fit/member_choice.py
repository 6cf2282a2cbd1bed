"""Who answers for an input: a member drawn by its weight, or all with the same chance where there are none.

Weights are laid side by side on the numbers from 0 to 2^64, exactly but for one of these numbers; whoever has a random
number of 64 bits, from wherever, has a member.
"""

import math
import secrets
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.errors import DamagedFileError, DataError

Randomness: TypeAlias = np.random.Generator | torch.Generator | None

_BITS = 64
_ROUNDING = 1e-9


class MemberChoice:
    def __init__(self, members: int, weights: Sequence[float] | None) -> None:
        """``weights``, one for each member, are positive and 1 in all."""
        fair = weights is None or (
            len(weights) == members and min(weights, default=0) > 0 and abs(math.fsum(weights) - 1) <= _ROUNDING
        )
        if not fair:
            raise DamagedFileError("the weights of the certificate's members are not positive and 1 in all.")
        self._members, self._weights = members, weights
        # As Python's own numbers: to look up one of them takes no array.
        self._edges = [] if weights is None else _edges(weights)

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """(members,): of each to answer for an input."""
        if self._weights is None:
            return np.full(self._members, 1 / self._members)
        return np.array(self._weights) / math.fsum(self._weights)

    def of_numbers(self, numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The member of each number, where numbers are as good as random."""
        if self._weights is None:
            # 64 bits: that the remainder favours some members by 2^-50 is beyond any count of rows.
            return (numbers % np.uint64(self._members)).astype(np.int64)
        return np.searchsorted(self._edge_array, numbers, side="right").astype(np.int64)

    def drawn(self, rows: int, generator: Randomness = None) -> NDArray[np.int64]:
        """(rows,): from the generator, or from the operating system's randomness."""
        if generator is None:
            if rows == 1:
                return np.array([self.one()])
            return self.of_numbers(np.frombuffer(secrets.token_bytes(8 * rows), dtype=np.uint64))
        if isinstance(generator, torch.Generator):
            return self._by_torch(rows, generator)
        if isinstance(generator, np.random.Generator):
            if self._weights is None:
                return generator.integers(self._members, size=rows)
            return self.of_numbers(generator.integers(2**_BITS, size=rows, dtype=np.uint64))
        raise DataError("generator must be one of NumPy's or torch's random generators.")

    def one(self) -> int:
        """A member for a single input, by the operating system's randomness."""
        if self._members == 1:
            return 0
        if self._weights is None:
            return secrets.randbelow(self._members)
        return bisect_right(self._edges, secrets.randbits(_BITS))

    def _by_torch(self, rows: int, generator: torch.Generator) -> NDArray[np.int64]:
        device = generator.device
        if self._weights is None:
            return torch.randint(self._members, (rows,), generator=generator, device=device).cpu().numpy()
        # All 64 bits: of torch's whole numbers the signed ones alone reach that far.
        whole = torch.empty(rows, dtype=torch.int64, device=device).random_(-(2**63), None, generator=generator)
        return self.of_numbers(whole.cpu().numpy().view(np.uint64))

    @cached_property
    def _edge_array(self) -> NDArray[np.uint64]:
        return np.array(self._edges, dtype=np.uint64)


def _edges(weights: Sequence[float]) -> list[int]:
    """Where each member but the last ends."""
    sums = list(accumulate(map(Fraction, weights)))
    return [min(int(part / sums[-1] * 2**_BITS), 2**_BITS - 1) for part in sums[:-1]]
