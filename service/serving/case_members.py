"""Who answers for the rows of a batch whose cases are named: the members that the same cases have by themselves."""

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.case_names import CaseNames
from certiset.service.serving.predictor_cache import CachedPredictor
from certiset.service.serving.set_server import SetServer

_HASHED_AT_ONCE = 128


async def case_members(sets: SetServer, cached: CachedPredictor, cases: CaseNames) -> NDArray[np.int64]:
    """(rows,): only this process has the key of the hashes, so that no worker can tell."""
    names = cases.values
    parts = (
        sets.cases.of_cases(cached.tenant, cached.id, names[start : start + _HASHED_AT_ONCE])[1]
        for start in range(0, len(names), _HASHED_AT_ONCE)
    )
    numbers = np.concatenate(await sets.in_slices(cached.tenant, parts))
    return cached.predictor.choice.of_numbers(numbers)[cases.codes]
