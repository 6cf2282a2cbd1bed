"""All alpha at once: the level that a rank has, and a certificate's table held against its other numbers."""

from itertools import pairwise

import numpy as np

from certiset.core.bounds import SizeCounts, simultaneous_grid
from certiset.core.certificate.checks import Check, close, equal
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.levels import ALPHA_MAX, SHARES, TABLE, Level, Levels
from certiset.core.errors import OptionError
from certiset.core.sets.one_size import one_size


def place_of(certificate: CertificateContent, levels: Levels, alpha: float) -> int:
    """Which of the thresholds may be used at alpha: that of the largest rank whose level is at most alpha."""
    coverage = certificate.coverage
    _, found = simultaneous_grid(coverage.n, coverage.share(coverage.delta), levels.alpha_max)
    if not found[0] <= alpha < 1:
        raise OptionError(
            f"alpha must be from {smallest_alpha(certificate, levels):.4g} to 1, not {alpha:.6g}: with {coverage.n} "
            "calibration points nothing smaller can be promised for all alpha at once.",
            field="alpha",
        )
    return int(np.searchsorted(found, alpha, side="right")) - 1


def smallest_alpha(certificate: CertificateContent, levels: Levels) -> float:
    """The level of the first rank, rounded up to four digits that count."""
    coverage = certificate.coverage
    smallest = float(simultaneous_grid(coverage.n, coverage.share(coverage.delta), levels.alpha_max)[1][0])
    rounded = float(f"{smallest:.3e}")
    return rounded if rounded >= smallest else float(f"{smallest * (1 + 1e-3):.3e}")


def level_checks(certificate: CertificateContent) -> list[Check]:
    """Every level of the table has the rank that it may have, and its threshold; sizes that are certified follow."""
    levels, coverage, member = certificate.levels, certificate.coverage, certificate.members[0]
    if levels is None:
        return [Check("levels", False, "thresholds for all alpha", None)]
    ranks, found = simultaneous_grid(coverage.n, coverage.share(coverage.delta), ALPHA_MAX)
    known = [
        equal("alpha_max", ALPHA_MAX, levels.alpha_max),
        equal("thresholds", len(ranks), len(levels.taus)),
        Check("order of the thresholds", all(a >= b for a, b in pairwise(levels.taus)), "not growing", None),
        equal("levels of the table", [alpha for alpha in TABLE if alpha >= found[0]], [x.alpha for x in levels.table]),
        equal("shares", list(SHARES), levels.shares),
        equal("ties of the thresholds", member.tie is not None, levels.ties is not None),
        equal("tie of each threshold", len(levels.taus), len(levels.ties or levels.taus)),
    ]
    if not all(check.ok for check in known):
        return known
    own = place_of(certificate, levels, coverage.alpha)
    ties: list[float | None] = [*levels.ties] if levels.ties is not None else [None] * len(levels.taus)
    stated = [(member.k, member.tau, member.tie), *((x.k, x.tau, x.tie) for x in levels.table)]
    places = [own, *(place_of(certificate, levels, level.alpha) for level in levels.table)]
    wanted = [(int(ranks[place]), levels.taus[place], ties[place]) for place in places]
    return [*known, equal("ranks and thresholds of the levels", wanted, stated), *_sizes(certificate, levels)]


def _sizes(certificate: CertificateContent, levels: Levels) -> list[Check]:
    coverage = certificate.coverage
    orderly = all(
        len(level.sizes) == len(levels.shares) and all(a <= b for a, b in pairwise(level.sizes))
        for level in levels.table
    )
    checks = [Check("sizes of the levels", orderly, "one for each share, not falling", None)]
    for level in levels.table:
        if level.size_bound is None:
            checks += [] if level.size_counts is None else [equal(f"sizes at {level.alpha}", None, level.size_counts)]
        elif certificate.efficiency.is_exact:
            checks.append(_exact(certificate, level))
        else:
            checks += _certified(certificate, level, coverage.n)
    return checks


def _exact(certificate: CertificateContent, level: Level) -> Check:
    score, efficiency = certificate.provenance.score, certificate.efficiency
    law = one_size(score, efficiency.measure)
    size = float("inf") if law is None else law.at(level.tau, efficiency.dimensions)
    return Check(f"size at {level.alpha}", (level.size_bound or 0.0) >= size, size, level.size_bound)


def _certified(certificate: CertificateContent, level: Level, n: int) -> list[Check]:
    """By betting at a grid point: the union over the grid is for every threshold at once."""
    efficiency, name = certificate.efficiency, f"size at {level.alpha}"
    if efficiency.cap is None or efficiency.grid_size is None:
        return [Check(name, False, "none without a grid", level.size_bound)]
    counts = SizeCounts.from_json(efficiency.size_steps or 0, level.size_counts or [])
    gamma = certificate.coverage.share(efficiency.gamma)
    bound = efficiency.cap * counts.grid_upper_bound(gamma, efficiency.grid_size)
    return [equal(f"rows of the {name}", n, counts.rows), close(name, bound, level.size_bound)]
