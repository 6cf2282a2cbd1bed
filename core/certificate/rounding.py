"""Numbers in sentences, rounded against us: risks up, promises down, so that no digit says more than was proved."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_UP = Context(prec=6, rounding=ROUND_CEILING)
_DOWN = Context(prec=6, rounding=ROUND_FLOOR)
_SHORT_UP = Context(prec=4, rounding=ROUND_CEILING)
_SHORT = Context(prec=2)
_EXACT = Context(prec=800)
"""enough for 1 minus any number that a float can be"""
_NOISE = 64
"""units in the last place that a sum of some terms may be off"""


def risk(share: float) -> str:
    """A probability of failure or miscoverage in per cent, rounded up: 0.05 is "5 %"."""
    return f"{_plain(_percent_up(share))} %"


def promise(failing: float) -> str:
    """What is promised if this share may fail, in per cent, rounded down: 1e-7 is "99.99999 %", never "100 %"."""
    return f"{_plain(_EXACT.subtract(Decimal(100), _percent_up(failing)))} %"


def at_least(share: float) -> str:
    """A promised share as a number, such as `promised_share` gives, in per cent, rounded down: 0.9 is "90 %"."""
    return f"{_plain(_DOWN.plus(_as_written(share)).scaleb(2))} %"


def at_most(number: float) -> str:
    """A bound from above with four digits that count, the last one rounded up: 1.70412 is "1.705"."""
    return _plain(_SHORT_UP.plus(_as_written(number)))


def about(share: float) -> str:
    """A share that was found, in per cent with two digits: 0.0512 is "5.1 %", 0.999 is "100 %"."""
    return f"{_plain(_SHORT.plus(_as_written(share)).scaleb(2))} %"


def promised_share(failing: float) -> float:
    """1 - failing as a number that, as it is written, promises no more: 0.9 for 0.1, and 1 only for 0."""
    exact = _EXACT.subtract(Decimal(1), _as_written(failing))
    nearest = float(exact)
    return nearest if _as_written(nearest) <= exact else math.nextafter(nearest, 0.0)


def total_risk(first: float, second: float) -> float:
    """The sum as a number that, as it is written, is no smaller."""
    exact = _EXACT.add(_as_written(first), _as_written(second))
    nearest = float(exact)
    return nearest if _as_written(nearest) >= exact else math.nextafter(nearest, math.inf)


def without_noise(total: float) -> float:
    """A sum of short decimals as it would be without floating point: 0.15 for 0.05 + 0.05 + 0.05."""
    short = round(total, 12)
    return short if abs(short - total) <= _NOISE * math.ulp(total) else total


def _as_written(number: float) -> Decimal:
    """0.05 is five hundredths, not the binary fraction next to it."""
    return Decimal(repr(float(number)))


def _percent_up(share: float) -> Decimal:
    """To six digits that count."""
    return _UP.plus(_as_written(share)).scaleb(2)


def _plain(number: Decimal) -> str:
    """Without an exponent and without zeros at the end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
