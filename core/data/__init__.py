"""Calibration data from strangers' files: sizes checked before parsing, no pickle, errors with row and column."""

from certiset.core.data.dataset import DatasetArrays
from certiset.core.data.formats import FORMATS, FileFormat, suffix_list, suffixes
from certiset.core.data.limits import Limits
from certiset.core.data.reading import convert_dataset, read_dataset, read_inputs

__all__ = [
    "FORMATS",
    "DatasetArrays",
    "FileFormat",
    "Limits",
    "convert_dataset",
    "read_dataset",
    "read_inputs",
    "suffix_list",
    "suffixes",
]
