"""What the model of a predictor says by itself, as it was given: about these numbers nothing is promised."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.errors import DataError
from certiset.core.fit.precision import full_precision
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.seen_rows import CHUNK, see


def own_outputs(scorer: Scorer, inputs: NDArray[Any], device: torch.device, dtype: torch.dtype) -> NDArray[np.float64]:
    """(rows, outputs) for checked inputs: probabilities of the classes, or predictions in the unit of the targets."""
    with full_precision(device), torch.no_grad():
        parts = [_part(scorer, inputs[at : at + CHUNK], device, dtype) for at in range(0, len(inputs), CHUNK)]
    found = np.concatenate(parts) if parts else np.zeros((0, scorer.model.outputs))
    if not np.isfinite(found).all():
        raise DataError("the model's output is not finite for some row of x.", field="x")
    return found


def _part(scorer: Scorer, inputs: NDArray[Any], device: torch.device, dtype: torch.dtype) -> NDArray[np.float64]:
    rows = see(scorer, inputs, device, dtype)
    outputs = scorer.model.given_outputs(rows.features)[: rows.asked].double()
    if scorer.model.manifest.task == "classification":
        outputs = torch.softmax(outputs, dim=1)
    found: NDArray[np.float64] = outputs.cpu().numpy()
    return found
