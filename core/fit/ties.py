"""What becomes of labels whose scores tie with the threshold."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.fit.rows import Rows
from certiset.core.fit.tie_hashes import Digests

_HALVINGS = 24


class Threshold(NamedTuple):
    """Of one or several draws."""

    tau: Tensor
    """(D,), or (D, classes) where each class has its own: no score above it is in a set"""
    tie: Tensor | None = None
    """likewise, on the host: where ties are broken, the largest hash that is in a set among scores that tie"""


class Ties(ABC):
    """A way to treat ties: which scores a threshold lets in. It lets in more as it grows."""

    kind: ClassVar[str]
    """the name that users choose it by"""

    @property
    def halvings(self) -> int:
        """Steps of bisection after which thresholds, by `at`, are as near to each other as matters."""
        return _HALVINGS

    @abstractmethod
    def to_json(self) -> dict[str, Any] | None:
        """All that it knows; None for what predictors did before there was a choice."""

    @abstractmethod
    def accepts(self, shape: tuple[int, ...], tie: Tensor | None) -> bool:
        """Whether this may be a half of stored thresholds of that shape."""

    @abstractmethod
    def digests(self, x: NDArray[Any], dtype: torch.dtype) -> Digests | None:
        """What has to be known of inputs (n, ...), beside their scores."""

    @abstractmethod
    def threshold(self, scores: Tensor, rows: Rows, rank: int) -> Threshold:
        """The threshold with as many of the rows' truths above it as ``rank`` - 1; their scores are (n,)."""

    def thresholds(self, scores: Tensor, rows: Rows, ranks: list[int]) -> Threshold:
        """The thresholds of many ranks."""
        found = [self.threshold(scores, rows, rank) for rank in ranks]
        ties = [one.tie for one in found if one.tie is not None]
        return Threshold(torch.cat([one.tau for one in found]), torch.cat(ties) if ties else None)

    @abstractmethod
    def within(self, scores: Tensor, rows: Rows, threshold: Threshold) -> Tensor:
        """(n,): which of the rows' truths one threshold lets in."""

    @abstractmethod
    def masks(self, scores: Tensor, threshold: Threshold, digests: Digests | None) -> Tensor:
        """(D, n, classes): which labels it lets in, by the scores of all of them."""

    @abstractmethod
    def at(self, values: Tensor) -> Threshold:
        """(G,) numbers as thresholds that grow with them and do not depend on any row; infinity lets all in."""

    @abstractmethod
    def rounded_up(self, threshold: Threshold) -> Threshold:
        """The smallest threshold of those that `at` gives that lets in all that this one does.

        They are in order, and fixed before any row is seen, as the bounds on sizes need it.
        """

    @abstractmethod
    def covers(self, larger: Threshold, smaller: Threshold) -> Tensor:
        """(G,): whether each of the first lets in, for every input, all that the second one does, for one draw."""


class TiesTogether(Ties):
    """All scores up to tau are in the set, so that those that tie with it are in or out together."""

    kind: ClassVar[str] = "together"

    def to_json(self) -> None:
        return None

    def accepts(self, shape: tuple[int, ...], tie: Tensor | None) -> bool:
        return tie is None

    def digests(self, x: NDArray[Any], dtype: torch.dtype) -> None:
        return None

    def threshold(self, scores: Tensor, rows: Rows, rank: int) -> Threshold:
        return Threshold(scores.kthvalue(len(rows) + 1 - rank).values.view(1))

    def thresholds(self, scores: Tensor, rows: Rows, ranks: list[int]) -> Threshold:
        places = len(rows) - torch.tensor(ranks, device=scores.device)
        return Threshold(scores.sort().values[places])

    def within(self, scores: Tensor, rows: Rows, threshold: Threshold) -> Tensor:
        return scores <= threshold.tau

    def masks(self, scores: Tensor, threshold: Threshold, digests: Digests | None) -> Tensor:
        return scores <= over_labels(threshold.tau)

    def at(self, values: Tensor) -> Threshold:
        return Threshold(values)

    def rounded_up(self, threshold: Threshold) -> Threshold:
        return threshold

    def covers(self, larger: Threshold, smaller: Threshold) -> Tensor:
        return larger.tau >= smaller.tau


def over_labels(tau: Tensor) -> Tensor:
    """(D,) or (D, classes) as it compares with scores (D, n, classes)."""
    return tau.view(len(tau), 1, -1)


TOGETHER = TiesTogether()
