"""What a problem of the demo consists of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class DemoProblem:
    name: str
    title: str
    manifest: Mapping[str, Any]
    weights: Mapping[str, NDArray[Any]]
    """of the base model, trained on rows that are in neither of the sets below"""
    x: NDArray[Any]
    y: NDArray[Any]
    """calibration rows"""
    test_x: NDArray[Any]
    test_y: NDArray[Any]
    """rows from the same distribution, to measure what was promised"""
    shown: tuple[tuple[str, list[float]], ...]
    """inputs for which the demo requests sets, each with its text"""
    options: Mapping[str, Any]
    """options of its fits, apart from the method"""
