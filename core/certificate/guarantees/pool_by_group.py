"""A pool that was tuned block by block, with a threshold for every group in each block: a promise for every group."""

import math
from typing import ClassVar

from certiset.core.bounds import PoolGroupShares, pool_group_shares, progressive_tail
from certiset.core.bounds.progressive import ACCURACY
from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.content import EXACT, CertificateContent
from certiset.core.certificate.group_content import Group, GroupBlock
from certiset.core.certificate.group_sizes import group_size_checks
from certiset.core.certificate.guarantees.base import column
from certiset.core.certificate.guarantees.by_group import SHARE_RULE
from certiset.core.certificate.guarantees.pool import ProgressivePool
from certiset.core.certificate.population import is_by_class
from certiset.core.certificate.sizes import GRID_BETTING

MOST_GROUPS = 64
"""whose laws, sums over the members, are computed"""
_MOST_MEMBERS, _MOST_POINTS = 2, 10**8
"""of those sums: with four members, or more points, 64 laws take minutes, and whoever checks a stranger's certificate
has no time for that"""
_BOUNDS = {None, EXACT, GRID_BETTING}


class ProgressiveByGroup(ProgressivePool):
    by_group: ClassVar[bool] = True
    fixed_beforehand: ClassVar[str] = (
        "The blocks, their order, the weights and the number of members were fixed before the calibration rows were "
        "seen, and no member was tuned, chosen or dropped by what its own block or a later one holds. The groups, "
        "their shares of delta and their ranks depend on those rows by the groups that they belong to alone; none were "
        "merged in view of them."
    )

    def member_checks(self, certificate: CertificateContent) -> list[Check]:
        known = super().member_checks(certificate)
        groups, members = certificate.groups or [], certificate.members
        named = {tuple(group.name) for group in groups}
        found = [
            Check("groups", 1 <= len(groups) <= MOST_GROUPS, f"from 1 to {MOST_GROUPS}", len(groups)),
            Check("members", len(members) <= _MOST_MEMBERS, f"at most {_MOST_MEMBERS}", len(members)),
            Check("number of points", 0 < certificate.coverage.n <= _MOST_POINTS, f"at most {_MOST_POINTS}", None),
            equal("names of groups", len(groups), len(named)),
            equal("groups by class", False, is_by_class(certificate)),
            equal("blocks of groups", [len(members)] * len(groups), [len(group.blocks or []) for group in groups]),
        ]
        if not all(check.ok for check in (*known, *found)):
            return [*known, *found]
        blocks = _blocks(groups)
        inside = [sum(block.n for block in own) <= (members[k].n or 0) for k, own in enumerate(blocks)]
        return [
            *known,
            *found,
            Check("points of groups in each block", all(inside), "at most those of the block", None),
            equal("thresholds of the members", largest_thresholds(groups), column(certificate, "tau")),
            equal("ranks of groups in all blocks", [_sum(group, "k") for group in groups], [g.k for g in groups]),
            equal("points of groups in all blocks", [_sum(group, "n") for group in groups], [g.n for g in groups]),
            equal("largest thresholds of groups", [_largest(group) for group in groups], [g.tau for g in groups]),
            equal("ties of groups", [None] * len(groups), [group.tie for group in groups]),
        ]

    def count_checks(self, certificate: CertificateContent) -> list[Check]:
        """Sizes are counted group by group."""
        return [equal("size counts of the pool", None, certificate.efficiency.size_counts)]

    def coverage_checks(self, certificate: CertificateContent) -> list[Check]:
        coverage, groups = certificate.coverage, certificate.groups or []
        share, weights = coverage.share(coverage.delta), coverage.rank_weights
        counts = [[block.n for block in group.blocks or []] for group in groups]
        found = pool_group_shares(counts, coverage.alpha, share, weights, SHARE_RULE)
        ranks = [[block.k for block in group.blocks or []] for group in groups]
        shares = [group.delta for group in groups]
        near = [math.isclose(a, b, rel_tol=1e-6) for a, b in zip(found.shares, shares, strict=True)]
        sums = [sum(of_member) for of_member in zip(*ranks, strict=True)]
        tail, stated = tail_of_groups(found, coverage.alpha, weights), coverage.tail or 0.0
        finite = [[k > 0 for k in own] for own in ranks]
        return [
            equal("ranks of groups by their numbers of points", [list(own) for own in found.ranks], ranks),
            Check("shares by the numbers of points", all(near), list(found.shares), shares),
            equal("points that groups lack", [lack or None for lack in found.lacking], [g.lacking for g in groups]),
            equal(
                "finite thresholds",
                finite,
                [[block.tau is not None for block in group.blocks or []] for group in groups],
            ),
            Check("tails of all groups", tail <= share, f"at most {share}", tail),
            Check("stated tail", tail <= stated * (1 + 2 * ACCURACY), f"at least {tail}", stated),
            Check("stated tail within delta", stated <= share, f"at most {share}", stated),
            equal("ranks of the members", coverage.ranks, sums),
            equal("member ranks", coverage.ranks, column(certificate, "k")),
            equal("rank", sum(coverage.ranks), coverage.k),
            *self.fixed_numbers(certificate),
        ]

    def size_quantile_checks(self, certificate: CertificateContent) -> list[Check]:
        """Sizes are those of the groups, and none is stated that few sets exceed."""
        nothing = [(None, None)] * len(certificate.members)
        stated = [(member.size_k, member.size_quantile) for member in certificate.members]
        bounds = {group.bound for group in certificate.groups or []}
        of_groups = [(group.size_k, group.size_quantile) for group in certificate.groups or []]
        return [
            equal("member size quantiles", nothing, stated),
            equal("size quantiles of groups", [(None, None)] * len(of_groups), of_groups),
            Check("bounds on the sizes of groups", bounds <= _BOUNDS, "by counts on the last block, or exact", None),
            *group_size_checks(certificate),
        ]


def tail_of_groups(found: PoolGroupShares, alpha: float, weights: list[float]) -> float:
    """An upper bound on the chance that any group is missed more than alpha of the time."""
    served = [(rows, ranks) for rows, ranks in zip(found.counts, found.ranks, strict=True) if any(ranks)]
    return math.fsum(progressive_tail(rows, ranks, alpha, weights) for rows, ranks in served)


def largest_thresholds(groups: list[Group]) -> list[float]:
    """What a certificate with groups states for each member of its pool."""
    each = zip(*(group.thresholds() for group in groups), strict=True)
    return [max((tau for tau, _ in of_member if math.isfinite(tau)), default=0.0) for of_member in each]


def _blocks(groups: list[Group]) -> list[tuple[GroupBlock, ...]]:
    """By member."""
    return list(zip(*(group.blocks or [] for group in groups), strict=True))


def _sum(group: Group, name: str) -> int:
    return sum(getattr(block, name) for block in group.blocks or [])


def _largest(group: Group) -> float | None:
    known = [block.tau for block in group.blocks or [] if block.tau is not None]
    return max(known, default=None)


PROGRESSIVE_BY_GROUP = ProgressiveByGroup("progressive_by_group")
