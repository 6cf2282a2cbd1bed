"""What a request for sets asks, read by hand: that takes a third of the time, and a wrong one costs no more."""

import re
from typing import Annotated, Any
from urllib.parse import parse_qs

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic_core import from_json

from certiset.core.data.case_names import LONGEST_CASE
from certiset.core.data.group_labels import LONGEST_VALUE
from certiset.core.errors import DataError, OptionError
from certiset.core.store.identifiers import REFERENCE_PATTERN
from certiset.service.http.schemas.common import Strict
from certiset.service.serving.set_query import SetQuery

LONGEST_X = 50_000
"""servers take addresses of up to 64 KiB"""
MOST_MEMBERS = 10_000
CASES = (
    "the caller's name for the case of all rows, or of each: its outcome counts once, and it has the same member again"
)
COLUMNS = "the names of the columns of x: put in the order of the calibration rows' columns, or refused if others"
ALPHA = "the level that is asked for: needed where the promise is for all alpha at once, and one for all inputs"
GROUPS = (
    "the group of each row, where the predictor has a threshold for every group: a text or a number, or a list of them "
    "where columns cross"
)
GroupValue = Annotated[str, Field(max_length=LONGEST_VALUE)] | float
Case = Annotated[str, Field(min_length=1, max_length=LONGEST_CASE)]
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
NUMBERS = rf"^\s*{_NUMBER}\s*(,\s*{_NUMBER}\s*)*$"
_REFERENCE = re.compile(REFERENCE_PATTERN)


class PredictRequest(Strict):
    predictor: Annotated[
        str, Field(pattern=REFERENCE_PATTERN, description="a predictor's id, or the name of a deployment")
    ]
    x: Annotated[list[Any], Field(min_length=1, description="rows, each of the model's input shape or flat")]
    member: Annotated[int, Field(ge=0, le=MOST_MEMBERS)] | None = None
    cases: Case | list[Case] | None = Field(None, description=CASES)
    columns: list[str] | None = Field(None, description=COLUMNS)
    groups: list[GroupValue | list[GroupValue]] | None = Field(None, description=GROUPS)
    alpha: Annotated[float, Field(gt=0, lt=1)] | None = Field(None, description=ALPHA)


def read_query(text: bytes) -> SetQuery:
    given = _fields(text)
    for name in ("predictor", "x"):
        if name not in given:
            raise OptionError(f"{name} is missing.", field=name)
    for name, values in given.items():
        if (
            name in ("predictor", "x", "member", "case", "alpha") and len(values) > 1
        ):  # columns that cross have a group each
            raise OptionError(f"{name} is given more than once.", field=name)
    predictor = given["predictor"][0]
    if not _REFERENCE.fullmatch(predictor):
        raise _not_an_id()
    if len(given["x"][0]) > LONGEST_X:
        raise DataError(f"x has more than {LONGEST_X:,} characters: send such an input by POST.", field="x")
    case = given.get("case", [None])[0]
    if case is not None and not 0 < len(case) <= LONGEST_CASE:
        raise OptionError(f"case must be a text of 1 to {LONGEST_CASE} characters.", field="case")
    group = given.get("group")
    groups = None if group is None else group if len(group) == 1 else [group]
    member, alpha = _member(given.get("member", [None])[0]), read_alpha(given.get("alpha", [None])[0], text=True)
    return SetQuery(predictor, _numbers(given["x"][0]), member, case, None, groups, alpha)


def _fields(text: bytes) -> dict[str, list[str]]:
    try:
        plain = text.decode("ascii")
        if "%" in plain or "+" in plain:
            return parse_qs(plain, keep_blank_values=True, errors="strict", max_num_fields=20)
        given: dict[str, list[str]] = {}
        for field in plain.split("&", 20):
            name, _, value = field.partition("=")
            given.setdefault(name, []).append(value)
    except ValueError:
        raise OptionError("The query cannot be read.") from None
    return given


def _numbers(text: str) -> NDArray[np.float64]:
    """(1, numbers). Pydantic's JSON parser is twice as quick as Python's floats, which know some spellings more."""
    try:
        row = from_json(f"[{text}]")
    except ValueError:
        try:
            row = [float(part) for part in text.split(",")] if text.isascii() and "_" not in text else None
        except ValueError:
            row = None
    try:
        array = np.array([row], dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        array = np.zeros(0)
    if row is None or array.ndim != 2 or array.size == 0:
        raise DataError("x must be comma-separated numbers.", field="x")
    return array


def _member(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text):
        raise _not_a_member()
    return int(text)


def read_alpha(given: Any, field: str = "alpha", *, text: bool = False) -> float | None:
    """From JSON, or from the text of a query."""
    if given is None:
        return None
    if text and re.fullmatch(_NUMBER, given, re.ASCII):
        given = float(given)
    if type(given) not in (int, float) or not 0 < given < 1:
        raise OptionError(f"{field} must be a number between 0 and 1.", field=field)
    return float(given)


def read_json(body: bytes, numbers: NDArray[Any] | None = None) -> SetQuery:
    """``numbers`` are those of x, if they were taken out of the body."""
    try:
        given = from_json(body)
    except ValueError as error:
        raise OptionError(f"The body is not valid JSON: {error}.", field="body") from None
    if not isinstance(given, dict):
        raise OptionError("The body must be an object with predictor and x.", field="body")
    unknown = next((name for name in given if name not in PredictRequest.model_fields), None)
    if unknown is not None:
        known = f"expected one of {', '.join(PredictRequest.model_fields)}"
        raise OptionError(f"{unknown[:100]} is not an option: {known}.", field=unknown[:100])
    if not isinstance(given.get("predictor"), str) or not _REFERENCE.fullmatch(given["predictor"]):
        raise _not_an_id()
    if numbers is not None:
        given["x"] = numbers
    if not isinstance(given.get("x"), list | np.ndarray) or not len(given["x"]):
        raise DataError("x must be a list of rows.", field="x")
    member = given.get("member")
    if member is not None and (type(member) is not int or member < 0):
        raise _not_a_member()
    columns = given.get("columns")
    if columns is not None and not (isinstance(columns, list) and all(type(name) is str for name in columns)):
        raise OptionError("columns must be a list of the names of x's columns.", field="columns")
    groups, alpha = given.get("groups"), read_alpha(given.get("alpha"))
    if groups is not None and not isinstance(groups, list):
        raise DataError("groups must be a list with the group of each row.", field="groups")
    return SetQuery(given["predictor"], given["x"], member, given.get("cases"), columns, groups, alpha)


def _not_an_id() -> OptionError:
    return OptionError("predictor must be an id, such as pred-1f0c, or the name of a deployment.", field="predictor")


def _not_a_member() -> OptionError:
    return OptionError("member must be a whole number.", field="member")
