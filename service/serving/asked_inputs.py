"""An input that comes again with its truth: taken only if the hash in the prediction's id says that it was asked."""

import hmac
from typing import Any

import numpy as np

from certiset.core.errors import DataError
from certiset.core.jobs.outcomes import IssuedPrediction
from certiset.service.serving.case_hashes import CaseHashes


def asked_again(cases: CaseHashes, tenant: str, prediction: IssuedPrediction, x: Any, field: str) -> bytes:
    """The input as float64 numbers; the prediction was asked under the name of a deployment that collects outcomes."""
    assert prediction.question is not None
    try:
        numbers = np.array(x, dtype=np.float64).reshape(1, -1)
    except (ValueError, TypeError, OverflowError):
        raise DataError(f"{field} must be the numbers of one input.", field=field) from None
    digest = cases.of_inputs(tenant, prediction.predictor, numbers)[0].hex()
    if not np.isfinite(numbers).all() or not hmac.compare_digest(digest, prediction.question.digest):
        raise DataError(
            f"{field} is not the input that was asked: send the same numbers, or leave it out.", field=field
        )
    return numbers.astype("<f8").tobytes()
