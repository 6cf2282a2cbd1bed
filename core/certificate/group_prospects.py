"""What each group may expect before anything is fitted: its share of delta, its rank, and the rows that it lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from certiset.core.bounds import GroupShares, group_shares


@dataclass(frozen=True)
class GroupProspect:
    name: str
    n: int
    """rows that calibrate"""
    delta: float
    """its share; 0 without a threshold"""
    k: int
    """the rank of its threshold; 0: it has none"""
    lacking: int
    """rows that are missing for one"""

    @property
    def level(self) -> float:
        return self.k / (self.n + 1)


@dataclass(frozen=True)
class GroupProspects:
    groups: tuple[GroupProspect, ...]
    rows_needed: int
    """that calibrate: enough for any group, whatever the others have"""

    @classmethod
    def of(cls, names: Sequence[str], shares: GroupShares) -> "GroupProspects":
        each = zip(names, shares.counts, shares.shares, shares.ranks, shares.lacking, strict=True)
        return cls(tuple(GroupProspect(*one) for one in each), shares.rows_needed)

    @property
    def too_small(self) -> list[GroupProspect]:
        return [group for group in self.groups if group.lacking]


def group_prospects(names: Sequence[str], counts: Sequence[int], alpha: float, delta: float) -> GroupProspects:
    """By the numbers of rows alone."""
    return GroupProspects.of(names, group_shares(counts, alpha, delta))
