"""Coverage and size of every group that has a threshold of its own, with intervals."""

import math
from collections.abc import Sequence
from typing import Protocol

from scipy.stats import beta

from certiset.core.certificate.card import group_name
from certiset.core.certificate.content import EXACT, CertificateContent
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.population import is_by_class
from certiset.core.certificate.rounding import at_most, promise, risk
from certiset.core.certificate.size_cap import cut_clause
from certiset.core.drawing import BLUE, GREEN, GREY, ORANGE, Drawing, extent
from certiset.core.errors import ConflictError

_MOST_NAMED = 10
"""groups whose names stand at the axis; with more, their numbers in the order of the table"""
_LONGEST_NAME = 12
_CENTRAL = 0.95


class GroupOutcomes(Protocol):
    """What a monitor says of one group."""

    @property
    def name(self) -> Sequence[str]: ...
    @property
    def label(self) -> str | None: ...
    @property
    def outcomes(self) -> int: ...
    @property
    def misses(self) -> int: ...
    @property
    def miscoverage(self) -> float | None: ...
    @property
    def interval(self) -> tuple[float, float]: ...


def coverage_by_group(certificate: CertificateContent) -> Drawing:
    """What each group's threshold covers: by the law of its rank, whose mean and middle 95 % are known exactly."""
    groups = _with_threshold(certificate)
    names = [_shown(certificate, group) for group in groups]
    found = [_covered(group, certificate.coverage.rank_weights) for group in groups]
    promised = 1 - certificate.coverage.alpha
    words = "; ".join(
        f"{name}: {middle:.3f} ({low:.3f} to {high:.3f})"
        for name, (low, middle, high) in zip(names, found, strict=True)
    )
    drawing = _drawing(
        "Coverage by group",
        f"What the thresholds cover, on average over calibrations, and the middle 95 % of calibrations. {words}.",
        names,
        "share of truths in their sets",
        extent([value for one in found for value in one], include=[promised, 1.0]),
    )
    places = _places(groups)
    drawing.intervals(
        places, [low for low, _, _ in found], [high for _, _, high in found], BLUE, "95 % of calibrations"
    )
    drawing.points(places, [middle for _, middle, _ in found], BLUE, "on average", radius=4)
    drawing.level(promised, f"promised: {promise(certificate.coverage.alpha)}", GREY)
    return drawing


def sizes_by_group(certificate: CertificateContent) -> Drawing:
    """The mean size measured on the calibration rows, up to what is certified where something is."""
    groups = [group for group in certificate.groups or [] if group.size is not None]
    if not groups:
        raise ConflictError("The certificate has no groups whose sets are bounded.")
    measured = [group.size or 0.0 for group in groups]
    certified = [math.nan if group.upper_bound is None else group.upper_bound for group in groups]
    names = [_shown(certificate, group) for group in groups]
    words = "; ".join(
        f"{name}: {size:.4g}" + ("" if math.isnan(most) else f", at most {at_most(most)} certified")
        for name, size, most in zip(names, measured, certified, strict=True)
    )
    efficiency = certificate.efficiency
    cuts = efficiency.cap is not None and any(
        group.upper_bound is not None and group.bound != EXACT for group in groups
    )
    cut = cut_clause(efficiency.measure, efficiency.cap or 0.0) if cuts else ""
    drawing = _drawing(
        "Size by group",
        f"Mean size of the sets on the calibration rows, and what is certified for future ones{cut}. {words}.",
        names,
        f"mean size ({certificate.efficiency.measure})",
        extent([*measured, *certified], include=[0.0]),
    )
    places = _places(groups)
    drawing.intervals(places, measured, certified, GREEN, "up to the certified mean")
    drawing.points(places, measured, GREEN, "measured", radius=4)
    return drawing


def outcomes_by_group(groups: Sequence[GroupOutcomes], alpha: float) -> Drawing:
    """What reported outcomes say of each group: the share that was missed, and an interval that always holds."""
    missed = [math.nan if group.miscoverage is None else group.miscoverage for group in groups]
    lower, upper = [group.interval[0] for group in groups], [group.interval[1] for group in groups]
    names = [_short(group.label or ", ".join(group.name)) for group in groups]
    words = "; ".join(
        f"{name}: {group.misses} of {group.outcomes} missed ({low:.3f} to {high:.3f})"
        for name, group, low, high in zip(names, groups, lower, upper, strict=True)
    )
    drawing = _drawing(
        "Outcomes by group",
        f"Share of reported outcomes that were missed, with intervals for all groups at once. {words}.",
        names,
        "share missed",
        extent([*missed, *upper], include=[0.0, alpha]),
    )
    places = _places(groups)
    drawing.intervals(places, lower, upper, ORANGE, "interval, at every moment")
    drawing.points(places, missed, ORANGE, "missed so far", radius=4)
    drawing.level(alpha, f"promised: at most {risk(alpha)}", GREY)
    return drawing


def _with_threshold(certificate: CertificateContent) -> list[Group]:
    found = [group for group in certificate.groups or [] if group.k]
    if not found:
        raise ConflictError("The certificate has no groups with thresholds of their own.")
    return found


def _covered(group: Group, weights: Sequence[float]) -> tuple[float, float, float]:
    """Low, mean and high: one minus a Beta variable.

    Of a pool a mean of several, drawn as the one that has the same mean and variance.
    """
    a, b = float(group.k), float(group.n + 1 - group.k)
    if group.blocks is not None:
        laws = [beta(block.k, block.n + 1 - block.k) for block in group.blocks]
        each = list(zip(weights, laws, strict=True))
        mean = math.fsum(weight * float(law.mean()) for weight, law in each)
        variance = math.fsum(weight**2 * float(law.var()) for weight, law in each)
        points = mean * (1 - mean) / variance - 1
        a, b = mean * points, (1 - mean) * points
    law, rest = beta(a, b), (1 - _CENTRAL) / 2
    return 1 - float(law.ppf(1 - rest)), 1 - float(law.mean()), 1 - float(law.ppf(rest))


def _drawing(title: str, words: str, names: Sequence[str], y_label: str, y_range: tuple[float, float]) -> Drawing:
    count = len(names)
    named = count <= _MOST_NAMED
    return Drawing(
        title,
        words,
        "group" if named else "group, in the order of the table",
        y_label,
        (0.5, count + 0.5),
        y_range,
        x_ticks=[float(place) for place in range(1, count + 1)] if named else (),
        x_names=names if named else (),
    )


def _places(groups: Sequence[object]) -> list[float]:
    return [float(place) for place in range(1, len(groups) + 1)]


def _shown(certificate: CertificateContent, group: Group) -> str:
    """A class by its name, where it has one."""
    labels = certificate.model.labels if certificate.model is not None and is_by_class(certificate) else None
    return _short(group_name(group, labels))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
