"""The rows that a fit uses: all that were given, or those that are draws from the population that is meant."""

from typing import Any

import torch

from certiset.core.data.arrays import CheckedData, check_inputs
from certiset.core.data.frame import as_frame
from certiset.core.data.row_hashes import sha256_of_inputs
from certiset.core.errors import DataError
from certiset.core.fit.options import FitOptions
from certiset.core.fit.precision import full_precision
from certiset.core.fit.rows import run_model
from certiset.core.fit.target_rows import TargetRows, chosen_rows, rows_by_estimate, training_rows
from certiset.core.models import Model


def used_rows(
    model: Model, data: CheckedData, options: FitOptions, target: Any, device: torch.device | None
) -> tuple[CheckedData, TargetRows | None]:
    """By what the options say, or by weights that are estimated from ``target``, inputs of another population.

    Estimating runs the model's backbone over both on the device; without one, the rows are all that could be kept.
    """
    if target is None:
        return chosen_rows(data, options)
    try:
        inputs = check_inputs(model, as_frame(target).inputs(data.columns, ())[0])
    except DataError as error:
        raise DataError(f"The target inputs do not fit: {error}", field="target") from None
    if device is None:
        return data.take(training_rows(len(data.y), options.seed)[1]), None
    dtype = getattr(torch, options.dtype)
    with full_precision(device):
        features, others = (run_model(model, part, device, dtype)[0].cpu().numpy() for part in (data.x, inputs))
    return rows_by_estimate(data, features, others, sha256_of_inputs(inputs), options)
