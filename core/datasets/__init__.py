"""Calibration data from strangers' files: sizes checked before parsing, no pickle, errors with row and column."""

from core.datasets.arrays import DatasetArrays
from core.datasets.limits import Limits
from core.datasets.reading import KINDS, read_dataset

__all__ = ["KINDS", "DatasetArrays", "Limits", "read_dataset"]
