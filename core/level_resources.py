"""Levels of a promise for all alpha at once, as JSON has them."""

from certiset.core.resource_base import Resource


class LevelRow(Resource):
    alpha: float
    rank: int
    rank_of_one_alpha: int
    """that a promise for this alpha alone would have had: the difference is the price"""
    size: float
    """mean size of the sets, measured on the calibration rows"""
    size_bound: float | None
    """on the mean size of future sets, certified for all levels at once; null where none is"""


class LevelAnswer(Resource):
    """The smallest of the levels at which a share of the sets is no larger than a size: measured, not certified."""

    share: float
    size: float
    alpha: float | None
    """null where there is none"""


class Levels(Resource):
    predictor_id: str
    certificate_id: str
    measure: str
    """of sizes: labels, width or volume"""
    n: int
    delta: float
    """with which the promise may fail, for all alpha together"""
    gamma: float
    """with which the certified sizes may fail, likewise"""
    smallest_alpha: float
    """that can be asked for"""
    items: tuple[LevelRow, ...]
    answer: LevelAnswer | None = None
    """where share and size were given"""
