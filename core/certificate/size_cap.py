"""What a certified mean size leaves out: sizes above the cap count as the cap."""

from certiset.core.certificate.content import Efficiency
from certiset.core.certificate.rounding import at_most
from certiset.core.sets.measures import MEASURES


def cut_of(efficiency: Efficiency) -> str:
    """Behind the bound on the mean size of a certificate."""
    if efficiency.cap is None or efficiency.is_exact:
        return ""
    return cut_clause(efficiency.measure, efficiency.cap)


def cut_clause(measure: str, cap: float) -> str:
    """Behind a bound on a mean; a number of labels is never cut."""
    return "" if MEASURES[measure].is_count else f", where sizes above {at_most(cap)} count as {at_most(cap)}"
