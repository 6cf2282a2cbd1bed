"""What a method makes of rows: members, and all that is promised about them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.certificate.content import Caveat, Coverage, Efficiency, Member
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.levels import Levels
from certiset.core.certificate.selection import Selection
from certiset.core.fit.scorer import Scorer


@dataclass(frozen=True)
class Fitted:
    scorer: Scorer
    theta: Tensor
    """(members, d)"""
    n_tune: int
    """rows, or clusters, that no member calibrated on"""
    blocks: list[Tensor]
    """the places of the rows on which each member was calibrated"""
    coverage: Coverage
    members: list[Member]
    efficiency: Efficiency
    rounding: list[float]
    """what each threshold was raised by, as a share of it"""
    caveats: list[Caveat] = field(default_factory=list)
    selection: Selection | None = None
    """what was compared on revealed rows, and what was taken"""
    levels: Levels | None = None
    """thresholds for all alpha, where the promise is for all of them"""
    groups: list[Group] | None = None
    """where each has its own threshold"""
    codes: NDArray[np.int64] | None = None
    """(rows,), of all rows: the place of each one's group, or one beyond"""
