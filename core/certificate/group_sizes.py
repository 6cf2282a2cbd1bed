"""Sizes that are certified group by group, all at once: computed, and computed again from a certificate's numbers.

Given the groups of all rows, those of one group are independent draws from its law, so that a bound on its mean size
holds as it does without groups, with its share of gamma: one part for each group that has a threshold; and so does the
size that few of its sets exceed. With one threshold a class all of them enter every set, whose mean size is certified
as that of one member (`certiset.core.fit.class_sizes`).
"""

from typing import cast

import numpy as np

from certiset.core.bounds import EfficiencyBound, SizeCounts
from certiset.core.certificate.checks import Check, close, equal
from certiset.core.certificate.content import EXACT, CertificateContent, Efficiency, SizeQuantile
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.open_sizes import open_size_checks
from certiset.core.certificate.population import is_by_class
from certiset.core.certificate.sizes import (
    GRID_BETTING,
    QUANTILE_SHARE,
    SizeNumbers,
    reason_against,
)
from certiset.core.sets.one_size import ONE_SIZE, one_size


def gamma_of_group(gamma: float, groups: int) -> float:
    """What each of the groups with a threshold may spend."""
    return gamma / groups


def group_size_checks(certificate: CertificateContent) -> list[Check]:
    efficiency, groups = certificate.efficiency, certificate.groups or []
    finite = [group for group in groups if group.tau is not None]
    gamma = gamma_of_group(certificate.coverage.share(efficiency.gamma), max(1, len(finite)))
    checks = [
        equal("size quantile", None, efficiency.quantile),
        *([] if is_by_class(certificate) else [equal("mean size of all groups", None, efficiency.bound)]),
        Check("sizes of groups", all((group.size or 0) >= 0 for group in groups), "at least 0", None),
    ]
    for group in groups:
        name = ", ".join(group.name)[:60]
        checks += _quantile(
            efficiency, group, gamma, name, stated=group.tau is not None and not is_by_class(certificate)
        )
        if group.bound is None or group.upper_bound is None:
            checks.append(equal(f"size of group {name}", (None, None), (group.bound, group.upper_bound)))
        elif group.tau is None or is_by_class(certificate):
            checks.append(Check(f"size of group {name}", False, None, group.upper_bound))
        elif group.bound == EXACT:
            checks += _exact(certificate, group, group.tau, name)
        else:
            checks += _bounded(efficiency, group, gamma, name)
    return checks


def _quantile(efficiency: Efficiency, group: Group, gamma: float, name: str, *, stated: bool) -> list[Check]:
    if group.size_k is None or group.size_quantile is None or not stated:
        found = (group.size_k, group.size_quantile, group.open_sizes)
        return [equal(f"size quantile of group {name}", (None, None, None), found)]
    numbers = SizeNumbers(np.zeros(1), group.n, gamma, draws=1, grid_size=group.grid_size)
    allowed = int(numbers.quantile_ranks(sizes=group.open_sizes)[0])
    quantile = SizeQuantile(QUANTILE_SHARE, group.size_quantile, gamma, sizes=group.open_sizes)
    return [
        Check(f"size rank of group {name}", 1 <= group.size_k <= allowed, f"1 to {allowed}", group.size_k),
        *open_size_checks(efficiency, quantile),
    ]


def _exact(certificate: CertificateContent, group: Group, tau: float, name: str) -> list[Check]:
    score, efficiency = certificate.provenance.score, certificate.efficiency
    law = one_size(score, efficiency.measure)
    known = Check("score of one size", law is not None, list(ONE_SIZE), score)
    if law is None:
        return [known]
    size = law.at(tau, efficiency.dimensions)
    stated = group.upper_bound or 0.0
    return [Check(f"size of group {name}", stated >= size, f"at least {size}", stated)]


def _bounded(efficiency: Efficiency, group: Group, gamma: float, name: str) -> list[Check]:
    if efficiency.cap is None or group.upper_bound is None:
        return [Check("cap", False, "a number", None)]
    points = group.points_of_sizes
    numbers = SizeNumbers(np.zeros(1), points, gamma, draws=1, grid_size=group.grid_size)
    checks = []
    if group.bound == GRID_BETTING:
        counts = SizeCounts.from_json(efficiency.size_steps or 0, group.size_counts or [])
        bound = numbers.betting_bounds([counts])
        checks = [
            equal(f"points of the size counts of group {name}", points, counts.rows),
            close(f"mean efficiency of group {name}", counts.mean, group.efficiency),
        ]
    else:
        bound = numbers.mean_bounds(np.array([group.efficiency]), cast(EfficiencyBound, group.bound))
    against = reason_against(efficiency.measure, group.upper_bound * (1 + 1e-9), efficiency.cap, group.size or 0.0)
    return [
        *checks,
        close(f"mean size of group {name}", efficiency.cap * float(bound[0]), group.upper_bound),
        equal(f"worth stating for group {name}", None, against),
    ]
