"""The last look before a certificate: D_N on the path that serves, and how many of its truths are in their sets.

A threshold at rank k leaves at most k - 1 rows of D_N outside (in a pool, of its own block), so that n + 1 - k truths
are in the sets, whatever the model. Thresholds and sets are computed by different code, in different batches and in
floats. Should they disagree, for a reason that nobody thought of, it shows here: on the rows that the promise rests on,
with the truths as they were given, in float64.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.data.arrays import CheckedData
from certiset.core.errors import UncoveredError
from certiset.core.fit.predictor import CHUNK, Predictor


@torch.inference_mode()
def check_served_rows(
    predictor: Predictor,
    data: CheckedData,
    calibration: NDArray[np.int64],
    ranks: list[int],
    between: Callable[[], object],
) -> float:
    """The share of D_N's sets that are empty, over all members; an error if any member covers too few of its rows.

    ``calibration`` are the numbers of D_N's rows. Every member answers for every row that its rank is among; the
    backbone runs once for all of them. ``between`` is called between chunks, and may raise.
    """
    blocks = guarantee_of(predictor.certificate.coverage).blocks(predictor.certificate)
    covered, empty = np.zeros(predictor.members, dtype=np.int64), 0
    for start in range(0, len(calibration), CHUNK):
        between()
        rows = calibration[start : start + CHUNK]
        features = predictor.features_of(data.x[rows])
        for member, block in enumerate(blocks):
            own = slice(max(block.start - start, 0), max(block.stop - start, 0))
            if not len(rows[own]):
                continue
            sets = predictor.sets_from(features, member, len(rows)).take(own)
            covered[member] += np.count_nonzero(sets.contains(data.y[rows[own]]))
            empty += int(np.count_nonzero(sets.size == 0))
    for member, (found, rank, block) in enumerate(zip(covered.tolist(), ranks, blocks, strict=True)):
        needed = len(block) + 1 - rank
        if found < needed:
            raise UncoveredError(
                f"There is no certificate: as they would be served, the sets of member {member} contain {found} of the "
                f"{len(block)} calibration truths, and {needed} are needed. The model's numbers change from one "
                "run to the next, or are too coarse for its precision: a fit with dtype = float64 may help."
            )
    return empty / sum(map(len, blocks))
