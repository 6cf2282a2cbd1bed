"""What a page shows beside a calibration and its sets, as JSON has it: a promise's budget, what is in a dataset, and
what the model itself says."""

from typing import Annotated, TypeAlias

from pydantic import Field

from certiset.core.resource_base import Resource

OutputsKind: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["probabilities", "numbers"]})]


class GroupBudget(Resource):
    """What one of several groups may expect, if the promise is to hold for each."""

    n: int
    delta: float
    """its share, by the numbers of rows alone"""
    rank: int | None
    """null: it has too few rows for a threshold"""
    level: float | None
    lacking: int
    """rows that are missing for one"""


class Budget(Resource):
    """What a number of calibration rows allows, for one fixed model: a fit that tunes has fewer rows left for it."""

    n: int
    alpha: float
    delta: float
    enough: bool
    """whether there is a finite threshold"""
    least: int
    """rows that this promise needs"""
    rank: int | None
    """of the threshold, counted from the largest score; null where there are too few rows"""
    level: float | None
    """rank / (n + 1): the share of sets that miss, on average, to keep to alpha with confidence 1 - delta"""
    groups: int | None = None
    """that were given"""
    groups_enough: int | None = None
    """of them with a finite threshold, if the promise is to hold for each"""
    group_least: int | None = None
    """rows that are enough for any group"""
    each_group: tuple[GroupBudget, ...] | None = None
    """in the order in which they were given"""


class Count(Resource):
    value: str
    rows: int


class DatasetProfile(Resource):
    """What is in the first rows of a dataset; of most datasets these are all."""

    rows: int
    """that were looked at"""
    distinct: int | None
    """inputs among them that are different; null where rows are too wide to compare"""
    classes: tuple[Count, ...] | None
    """how often each label occurs, for labels: at most 1,000 of them"""
    edges: tuple[float, ...] | None
    """of the histogram's bars, for numbers"""
    heights: tuple[int, ...] | None
    """rows in each bar"""
    groups: dict[str, tuple[Count, ...]]
    """for columns with few values, which could be groups: how often each occurs"""


class ModelOutputs(Resource):
    """What the model of a predictor says by itself, as it was given: about these numbers nothing is promised."""

    predictor_id: str
    kind: OutputsKind
    """probabilities of the classes, or predicted numbers"""
    names: tuple[str, ...] | None = None
    """of the classes, where they have some"""
    outputs: tuple[tuple[float, ...], ...]
    """for each row"""
