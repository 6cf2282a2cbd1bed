"""One fixed predictor with a threshold for every group: each keeps the promise by itself, all of them at once."""

import math
from typing import ClassVar

from certiset.core.bounds import ShareRule, group_shares
from certiset.core.certificate.checks import TOLERANCE, Check, equal
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.group_sizes import group_size_checks
from certiset.core.certificate.guarantees.base import column
from certiset.core.certificate.guarantees.vovk import Vovk2b
from certiset.core.certificate.population import is_by_class
from certiset.core.sets.measures import MEASURES

SHARE_RULE: ShareRule = "even"
"""how delta is shared, see `certiset.core.bounds.groups`"""


class Vovk2bByGroup(Vovk2b):
    by_group: ClassVar[bool] = True
    fixed_beforehand: ClassVar[str] = (
        "The parameters were fixed before the calibration rows were seen. The groups, their shares of delta and their "
        "ranks depend on those rows by the groups that they belong to alone; none were merged in view of them."
    )

    def member_checks(self, certificate: CertificateContent) -> list[Check]:
        """Without groups there would be nothing to check below."""
        groups = certificate.groups or []
        named = {tuple(group.name) for group in groups}
        return [
            *super().member_checks(certificate),
            Check("groups", bool(groups), "at least one", len(groups)),
            equal("names of groups", len(groups), len(named)),
            equal("blocks of groups", [None] * len(groups), [group.blocks for group in groups]),
            equal("threshold of the member", [largest_threshold(groups)], column(certificate, "tau")),
        ]

    def coverage_checks(self, certificate: CertificateContent) -> list[Check]:
        coverage, groups = certificate.coverage, certificate.groups or []
        share = coverage.share(coverage.delta)
        counts, ranks = [group.n for group in groups], [group.k for group in groups]
        found = group_shares(counts, coverage.alpha, share, SHARE_RULE)
        shares = [group.delta for group in groups]
        spent = math.fsum(shares)
        fine = [
            0 < group.delta < 1 and group.k <= (self.rank(group.n, coverage.alpha, group.delta) or 0)
            for group in groups
            if group.k
        ]
        near = [math.isclose(a, b, rel_tol=1e-6) for a, b in zip(found.shares, shares, strict=True)]
        lacking = [lack or None for lack in found.lacking]
        return [
            Check("shares of delta", spent <= share * (1 + TOLERANCE), f"at most {share}", spent),
            Check("ranks of groups at their shares", all(fine), "at most those of vovk_2b", ranks),
            equal("ranks of groups by their numbers of points", list(found.ranks), ranks),
            Check("shares by the numbers of points", all(near), list(found.shares), shares),
            equal("points that groups lack", lacking, [group.lacking for group in groups]),
            Check("points of groups", sum(counts) <= coverage.n, f"at most {coverage.n}", sum(counts)),
            equal("finite thresholds", [k > 0 for k in ranks], [group.tau is not None for group in groups]),
            equal("rank", sum(ranks), coverage.k),
            equal("member rank", [coverage.k], column(certificate, "k")),
            equal("log-ratio", [0.0], column(certificate, "log_ratio")),
            equal("divergence", 0.0, coverage.kl),
            equal("draws", 1, coverage.draws),
            equal("open ranks", ([coverage.k], [1.0]), (coverage.ranks, coverage.rank_weights)),
            equal("budget", None, coverage.kl_budget),
            *self._classes(certificate),
            *self.whole_promise(coverage),
        ]

    def _classes(self, certificate: CertificateContent) -> list[Check]:
        """Classes are all of the model's, by their numbers."""
        if not is_by_class(certificate):
            return []
        groups = certificate.groups or []
        efficiency = certificate.efficiency
        return [
            equal("classes", [[str(place)] for place in range(len(groups))], [group.name for group in groups]),
            Check("sets of labels", MEASURES[efficiency.measure].is_count, "labels", efficiency.measure),
            equal("number of classes", efficiency.cap, float(len(groups))),
        ]

    def size_quantile_checks(self, certificate: CertificateContent) -> list[Check]:
        """Sizes are those of the groups."""
        return group_size_checks(certificate)

    def spent(self, certificate: CertificateContent) -> tuple[list[int], list[float]]:
        return [certificate.coverage.k], [0.0]


def largest_threshold(groups: list[Group]) -> float:
    """What a certificate with groups states for its member."""
    return max((group.tau for group in groups if group.tau is not None), default=0.0)


VOVK_2B_BY_GROUP = Vovk2bByGroup("vovk_2b_by_group")
