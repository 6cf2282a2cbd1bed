"""The thresholds of stored members, on the device that computes: one for each, or one for each group or class."""

from typing import NamedTuple

import torch
from torch import Tensor

from certiset.core.fit.ties import Threshold


class MemberThresholds(NamedTuple):
    """Of every member and, where there are groups, of every group and one beyond, which lets everything in."""

    tau: Tensor
    tie: Tensor | None
    by_group: bool
    own: list[Threshold]
    """of each member, where it has one for all groups; cut out once, as single sets are asked for often"""

    @classmethod
    def of(cls, tau: Tensor, tie: Tensor | None, *, by_group: bool) -> "MemberThresholds":
        if by_group:
            tau = torch.cat([tau, torch.full_like(tau[:, :1], torch.inf)], dim=1)
            tie = None if tie is None else torch.cat([tie, torch.zeros_like(tie[:, :1])], dim=1)
            return cls(tau, tie, by_group, [])
        ties = [None] * len(tau) if tie is None else torch.split(tie, 1)
        return cls(tau, tie, by_group, [Threshold(*pair) for pair in zip(torch.split(tau, 1), ties, strict=True)])

    def __call__(self, member: int, group: int) -> Threshold:
        """(1,), or (1, classes) where every class has its own."""
        if not self.by_group:
            return self.own[member]
        tie = None if self.tie is None else self.tie[member : member + 1, group]
        return Threshold(self.tau[member : member + 1, group], tie)
