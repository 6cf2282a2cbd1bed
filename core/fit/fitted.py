"""What a method makes of rows: members, and all that is promised about them."""

from dataclasses import dataclass, field

from torch import Tensor

from certiset.core.certificate.content import Caveat, Coverage, Efficiency, Member, Selection
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
