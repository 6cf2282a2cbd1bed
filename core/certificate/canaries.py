"""Canary inputs: a few made-up inputs and what the members said about them when the certificate was issued.

Whoever loads the predictor recomputes them. Other numbers mean that it computes otherwise here than it was certified.
"""

import math
from dataclasses import dataclass

from certiset.core.certificate.checks import Check

_MOST_NUMBERS = 20_000


@dataclass(frozen=True)
class Canaries:
    seed: int
    """of the inputs, which are made from it and the ranges: no row of the data is among them"""
    low: list[float]
    """of each column of x, or one for all: where most of the rows lie, to two digits"""
    high: list[float]
    whole: list[bool]
    """whether the column has whole numbers only"""
    members: list[int]
    columns: list[int]
    """which of the model's outputs are given"""
    outputs: list[list[list[float]]]
    """for each of these members, input and column, in units of 2^exponent of the predictor"""
    slack: float
    """by which outputs may differ on other machines"""
    scale: list[list[float]] | None = None
    """for each member and input: the learned scale, where there is one"""
    scale_slack: float | None = None


def canary_checks(canaries: Canaries | None, members: int) -> list[Check]:
    """That the section is what it should be; whether its numbers hold takes the predictor."""
    if canaries is None:
        return []
    inputs = {len(rows) for rows in canaries.outputs}
    fits = (
        len(canaries.low) == len(canaries.high) == len(canaries.whole) >= 1
        and all(low <= high for low, high in zip(canaries.low, canaries.high, strict=True))
        and 0 <= canaries.seed < 2**32
        and len(canaries.outputs) == len(canaries.members) >= 1
        and all(0 <= member < members for member in canaries.members)
        and len(inputs) == 1
        and 1 <= min(inputs) * len(canaries.members) * max(1, len(canaries.columns)) <= _MOST_NUMBERS
        and all(len(row) == len(canaries.columns) for rows in canaries.outputs for row in rows)
        and canaries.slack >= 0
        and _scale_fits(canaries, inputs)
    )
    return [Check("canaries", fits, "numbers for each member and input", None)]


def _scale_fits(canaries: Canaries, inputs: set[int]) -> bool:
    if canaries.scale is None:
        return canaries.scale_slack is None
    return (
        len(canaries.scale) == len(canaries.members)
        and {len(row) for row in canaries.scale} == inputs
        and canaries.scale_slack is not None
        and 0 <= canaries.scale_slack < math.inf
    )
