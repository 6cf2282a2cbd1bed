"""Ties broken by a keyed hash of row and label, so that the promise is exact where scores have few values.

Scores that tie make the miscoverage L of a threshold smaller than its law: all rows that tie with tau are in their
sets, though fewer would do, and sets are larger for it. Compare pairs instead: (cell of the score, hash), the hash only
where the cells are equal. The hash is a fixed function of row and label, so that nothing is left to chance once the key
is fixed, and a set can be recomputed. Pairs hardly ever tie (equal rows with equal labels do), so that L of the pair of
rank k is Beta(k, n + 1 - k) again.

**Cells, and why not the scores themselves.** Which scores are equal is not for floats to say: the same score may differ
in its last places in another batch or on another machine, and tau is raised by r, more than these differences, so that
no truth is lost by them. A raised threshold has nothing to tie with. So scores are rounded to the nearest multiple of a
power of two, ``width``, far above those differences and far below what matters: cell c holds the scores in [(c - 1/2)
width, (c + 1/2) width). Natural scores (1 - p for p a multiple of a power of two) lie in the middle of a cell. The pair
of rank k on D_N, (c, h), gives the threshold tau = (c + 1/2) width + r, and

    the set is {y : s <= tau - width} together with {y : s <= tau and the hash of (x, y) is at most h}:

all cells below c, and of cell c the hashes up to h, each with r to spare.

**It keeps the promise.** Let scores differ from their exact values s* by at most e when D_N is scored and by at most e'
when a set is served, with e + e' <= r (some of r is left for the rounding of tau - width). Call c*(s*) the cell with
all edges moved up by e, (c - 1/2) width + e <= s* < (c + 1/2) width + e: with the hash, a fixed function of row and
label, to which the theorems apply whatever its law. At least n + 1 - k rows of D_N have pairs up to (c, h), by the
scores as they were computed: s <= (c - 1/2) width, or s <= (c + 1/2) width and a hash of at most h. Their exact scores
are at most e larger, so that their pairs by c* are at most (c, h), too: hence so is the pair of rank k by c*, and what
it lets in is within {(c*, hash) <= (c, h)}. A label of that set has s* <= (c - 1/2) width + e or s* <= (c + 1/2) width
+ e with a hash of at most h; its score as served is at most e' larger, and it is in the served set. So L is at most
that of a pair of rank k of a fixed function, which is Beta(k, n + 1 - k) or smaller. In no step does r have to be
smaller than a cell: a large r costs size, and not the promise.

**It is nearly exact.** What is served beyond that pair has a score within r + e of an edge of cell c. Where scores tie
on few values, these are whole groups of ties if an edge happens to be so near to one, which is rare as long as r is a
small part of ``width``, and nothing otherwise. Within a cell the order of scores is lost: cells are so narrow that this
does not show in sizes.

**Sizes.** Stored thresholds have two parameters, tau and h, and are in no order; bounds on sizes need one. So sizes are
certified at the next threshold of a family that is ordered and fixed: those with r one 32nd of a cell.

**The key** comes from the seed of the fit. That is as good as a fresh one: the promise holds for every fixed key, and
asks only that the key does not depend on the rows of D_N, as a seed does not that was chosen without them; and the same
seed gives the same predictor.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.fit.rows import Rows
from certiset.core.fit.tie_hashes import Digests, RowHashes
from certiset.core.fit.ties import Threshold, Ties, over_labels

_PLACES = 2.0**15
"""of a number near 1, in a cell: its width is 2^-8 in float32, 2^-37 in float64 (docs/decisions/023)"""
_USUAL_EXPONENT = -7
"""of a cell in float32, as `frexp` counts"""
_UPPER_EDGE = 0.5
_GRID_EDGE = _UPPER_EDGE + 1 / 32
"""thresholds of a fixed family are raised by a small part of a cell, as stored ones are by r"""


@dataclass(frozen=True)
class HashedTies(Ties):
    kind: ClassVar[str] = "hash"

    hashes: RowHashes
    width: float
    """of a cell: a power of two, fixed before any row is seen"""

    @classmethod
    def of_fit(cls, seed: int, dtype: torch.dtype) -> "HashedTies":
        return cls(RowHashes.of_seed(seed), _PLACES * torch.finfo(dtype).eps)

    @property
    def halvings(self) -> int:
        """As many more as cells are narrower than those of float32, so that grid points differ by a part of a cell."""
        return super().halvings + max(0, _USUAL_EXPONENT - math.frexp(self.width)[1])

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "key": self.hashes.key, "width": self.width}

    def accepts(self, shape: tuple[int, ...], tie: Tensor | None) -> bool:
        if tie is None or tie.dtype != torch.float64 or tie.shape != shape:
            return False
        return bool(((tie >= 0) & (tie < 1)).all())

    def digests(self, x: NDArray[Any], dtype: torch.dtype) -> Digests:
        return self.hashes.digests(x, dtype)

    def threshold(self, scores: Tensor, rows: Rows, rank: int) -> Threshold:
        return self.thresholds(scores, rows, [rank])

    def thresholds(self, scores: Tensor, rows: Rows, ranks: list[int]) -> Threshold:
        cells = np.floor(scores.detach().cpu().double().numpy() / self.width + _UPPER_EDGE)
        hashes = self._of_truths(rows)
        places = np.lexsort((hashes, cells))[len(rows) - np.array(ranks)]
        tau = torch.from_numpy((cells[places] + _UPPER_EDGE) * self.width).to(scores.dtype).to(scores.device)
        return Threshold(tau, torch.from_numpy(hashes[places]))

    def within(self, scores: Tensor, rows: Rows, threshold: Threshold) -> Tensor:
        below = torch.from_numpy(self._of_truths(rows) <= _host(threshold.tie)).to(scores.device)
        return self._lets_in(scores, threshold.tau, below)

    def masks(self, scores: Tensor, threshold: Threshold, digests: Digests | None) -> Tensor:
        assert digests is not None
        below = self.hashes.at_most(digests, scores.shape[-1], _host(threshold.tie))
        return self._lets_in(scores, over_labels(threshold.tau), torch.from_numpy(below).to(scores.device))

    def at(self, values: Tensor) -> Threshold:
        """The whole part of values / width says the cell, the rest the hash."""
        cells = torch.floor(values / self.width)
        rest = (values / self.width - cells).nan_to_num(0.0)
        return Threshold((cells + _GRID_EDGE) * self.width, rest.double().cpu())

    def rounded_up(self, threshold: Threshold) -> Threshold:
        edges = (torch.ceil(threshold.tau / self.width - _GRID_EDGE) + _GRID_EDGE) * self.width
        # The difference may have been rounded.
        return threshold._replace(tau=torch.where(edges < threshold.tau, edges + self.width, edges))

    def covers(self, larger: Threshold, smaller: Threshold) -> Tensor:
        """By cells below, or within the same one by their hashes."""
        above = torch.from_numpy(_host(larger.tie) >= _host(smaller.tie)).to(larger.tau.device)
        return (larger.tau - self.width >= smaller.tau) | ((larger.tau >= smaller.tau) & above)

    def _lets_in(self, scores: Tensor, tau: Tensor, below: Tensor) -> Tensor:
        return scores <= torch.where(below, tau, tau - self.width)

    def _of_truths(self, rows: Rows) -> NDArray[np.float64]:
        assert rows.digests is not None
        return self.hashes.of_labels(rows.digests, rows.y.cpu().numpy(), rows.outputs.shape[-1])


def _host(tie: Tensor | None) -> NDArray[np.float64]:
    assert tie is not None
    return np.asarray(tie.numpy())
