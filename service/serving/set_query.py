"""What a request for sets asks, in whatever form it came, and what that form calls it."""

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from certiset.service.serving.case_hashes import Cases


class SetQuery(NamedTuple):
    predictor: str
    """its id, or a deployment's name"""
    x: ArrayLike
    member: int | None
    """None: one is drawn for each row"""
    cases: Cases | None = None
    """the caller's names for them: one case has the same member again, and its outcome counts once"""
    columns: list[str] | None = None
    """names of the columns of x, by which they are put in the predictor's order"""
    groups: Any = None
    """those of the rows, where groups have thresholds"""
    alpha: float | None = None
    """one of the levels that the promise is for"""


class QueryFields(NamedTuple):
    """What the caller calls each, for errors that name the field at fault."""

    member: str = "member"
    cases: str = "cases"
    groups: str = "groups"
    alpha: str = "alpha"


IN_JSON = QueryFields()
