"""What outcomes say about a certificate: the coverage so far, and the capital that bets against it."""

import math
from collections.abc import Sequence
from typing import Protocol

from certiset.core.bounds import miscoverage_interval
from certiset.core.certificate.rounding import promise, risk
from certiset.core.drawing import BLUE, GREEN, GREY, ORANGE, RED, Drawing, extent

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_PLAIN = 4
"""powers of ten up to which a number is written out"""


class Point(Protocol):
    @property
    def outcomes(self) -> int: ...
    @property
    def misses(self) -> int: ...
    @property
    def log_capital(self) -> float: ...


class Watched(Protocol):
    """What is drawn of a monitor."""

    @property
    def path(self) -> Sequence[Point]: ...
    @property
    def eta(self) -> float: ...
    @property
    def promised_miscoverage(self) -> float: ...
    @property
    def log_threshold(self) -> float: ...


def capital(monitor: Watched) -> Drawing:
    """The capital along the way, against the level at which the certificate is contradicted."""
    counts = [0, *(point.outcomes for point in monitor.path)]
    tens = [0.0, *(point.log_capital / math.log(10) for point in monitor.path)]
    threshold = monitor.log_threshold / math.log(10)
    words = (
        f"After {counts[-1]} outcomes the capital, begun with 1, is {_power(tens[-1])}, at its peak "
        f"{_power(max(tens))}; from {_power(threshold)} on the certificate is contradicted."
    )
    drawing = Drawing(
        "Capital against the certificate",
        words,
        "outcomes reported",
        "capital, powers of ten",
        (0, counts[-1]),
        extent(tens, include=[0.0, threshold * 1.1]),
    )
    drawing.line(counts, tens, BLUE, "capital")
    drawing.level(threshold, f"threshold: {math.exp(monitor.log_threshold):.3g}-fold", ORANGE, named_left=True)
    _mark_contradiction(drawing, monitor)
    return drawing


def coverage(monitor: Watched) -> Drawing:
    """The share of covered outcomes so far, with an interval that holds at all times at once."""
    points = [point for point in monitor.path if point.outcomes]
    counts = [point.outcomes for point in points]
    seen = [1 - point.misses / point.outcomes for point in points]
    intervals = [miscoverage_interval(point.outcomes, point.misses, monitor.eta) for point in points]
    promised = 1 - monitor.promised_miscoverage
    words = (
        f"After {counts[-1]} outcomes {100 * seen[-1]:.3g} % were covered; the true share is between "
        f"{promise(intervals[-1][1])} and {risk(1 - intervals[-1][0])}. "
        if points
        else "No outcome has been reported yet. "
    )
    words += f"At least {promise(monitor.promised_miscoverage)} are promised."
    lowest = min([promised, *seen[len(seen) // 10 :]])
    drawing = Drawing(
        "Coverage so far",
        words,
        "outcomes reported",
        "share that was covered",
        (0, max(counts, default=1)),
        (max(0.0, lowest - 0.15), 1.0),
    )
    lower, upper = [1 - high for _, high in intervals], [1 - low for low, _ in intervals]
    if points:
        drawing.band(counts, lower, upper, BLUE, f"true coverage, {promise(monitor.eta)} sure at all times")
    drawing.line(counts, seen, GREEN, "coverage seen")
    drawing.level(promised, f"promised: {promise(monitor.promised_miscoverage)}", GREY)
    _mark_contradiction(drawing, monitor)
    return drawing


def _mark_contradiction(drawing: Drawing, monitor: Watched) -> None:
    """The first outcome on the path at which the capital had reached its threshold."""
    reached = (point.outcomes for point in monitor.path if point.log_capital >= monitor.log_threshold)
    crossed = next(reached, None)
    if crossed is not None:
        drawing.place(crossed, f"contradicted: outcome {crossed}", RED)


def _power(exponent: float) -> str:
    if abs(exponent) < _PLAIN:
        return f"{10**exponent:.3g}"
    whole = math.floor(exponent)
    return f"{10 ** (exponent - whole):.2f} · 10{_raised(whole)}"


def _raised(power: int) -> str:
    return str(power).translate(_RAISED)
