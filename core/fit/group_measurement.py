"""The rows that a group's grid of thresholds is made from, and the mean size over groups."""

import numpy as np
from torch import Tensor

from certiset.core.certificate.group_content import Group
from certiset.core.fit.rows import Rows

_FEWEST_FOR_A_GRID = 50
"""tuning rows of a group from which its own grid of thresholds is made; with fewer it is made from all"""


def grid_rows(tuning: Rows | None, codes: Tensor | None, group: int) -> Rows | None:
    """The tuning rows that the grid of a group is made from."""
    if tuning is None or codes is None:
        return tuning
    own = (codes == group).nonzero()[:, 0]
    return tuning.take(own.to(tuning.y.device)) if len(own) >= _FEWEST_FOR_A_GRID else tuning


def mean_size_of_groups(groups: list[Group]) -> float:
    """Over the rows of D_N whose sets are bounded."""
    known = [(group.size, group.n) for group in groups if group.size is not None and group.n]
    return float(np.average([size for size, _ in known], weights=[n for _, n in known])) if known else 0.0
