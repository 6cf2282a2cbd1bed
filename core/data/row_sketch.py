"""Whether two data sets share rows, from a few kilobytes of each: in any order, and over uploads in other formats.

**What is kept.** Of a data set's distinct row hashes the `KEPT` smallest. Hashes are as good as uniform numbers, so
that the kept ones are a random sample, and *the same* sample wherever the same rows are: below the smaller of two data
sets' largest kept hashes (no limit for one whose hashes are all kept), both sketches are complete.

**Sharing rows** means: at least `SHARE` of the distinct rows of the smaller one are rows of the other. Up to `KEPT`
distinct rows in each, that is counted exactly. Beyond, half of `SHARE` of the sample is enough: 1 % of 4096 rows are
found 41 times on average, and fewer than 21 times with probability below 0.0003. Rows of a small data set among N of
a large one are seen through the large one's sample: m shared rows are overlooked altogether with probability
(1 - KEPT / N)^m. So all of 1000 rows within a million are found with probability 0.98, and 1 % of them with 0.04.

**Few categories.** Where fewer than half of the rows are distinct, equal rows are no sign of a row used twice: such
data share rows only with data of exactly the same rows, each as often.
"""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.row_hashes import row_hashes

KEPT = 4096
SHARE = 0.01


@dataclass(frozen=True)
class RowSketch:
    rows: int
    distinct: int
    total: str
    """the sum of all rows' hashes, in hex: equal for the same rows in any order"""
    hashes: bytes
    """the smallest distinct hashes, in ascending order, 8 bytes each, little-endian"""

    @classmethod
    def of(cls, key: bytes, x: NDArray[Any], y: NDArray[Any]) -> "RowSketch":
        """Of inputs and truths; the key makes hashes of different owners incomparable."""
        every = row_hashes(key, x, y)
        distinct = np.unique(every)
        total = int(every.sum(dtype=np.uint64))
        return cls(len(every), len(distinct), f"{total:016x}", distinct[:KEPT].tobytes())

    @property
    def complete(self) -> bool:
        return self.distinct * 8 == len(self.hashes)

    def shares_rows_with(self, other: "RowSketch") -> bool:
        if (self.rows, self.total) == (other.rows, other.total):
            return True
        if self._repeats or other._repeats:
            return False
        ours, theirs = self._numbers, other._numbers
        for sketch, numbers in ((self, ours), (other, theirs)):
            if not sketch.complete:
                limit = numbers[-1]
                ours, theirs = ours[ours <= limit], theirs[theirs <= limit]
        found = np.intersect1d(ours, theirs, assume_unique=True).size
        share = SHARE if self.complete and other.complete else SHARE / 2
        return bool(found > 0 and found >= share * min(ours.size, theirs.size))

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "hashes": base64.b64encode(self.hashes).decode()}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "RowSketch":
        return cls(**{**content, "hashes": base64.b64decode(content["hashes"])})

    @property
    def _repeats(self) -> bool:
        return 2 * self.distinct < self.rows

    @property
    def _numbers(self) -> NDArray[np.uint64]:
        return np.frombuffer(self.hashes, dtype="<u8")
