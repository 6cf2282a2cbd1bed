"""The sentence about the size of the sets."""

from certiset.core.certificate.checks import TOLERANCE
from certiset.core.certificate.content import CertificateContent, Efficiency
from certiset.core.certificate.rounding import at_most, promise, risk
from certiset.core.sets.measures import MEASURES


def size_statement(certificate: CertificateContent) -> str | None:
    """What is promised about the size; None where nothing is."""
    efficiency = certificate.efficiency
    if efficiency.is_exact and efficiency.upper_bound is not None:
        return _exact(certificate, efficiency.upper_bound)
    said = [part for part in (_mean(efficiency), _quantile(efficiency)) if part is not None]
    return " ".join(said) or None


def _exact(certificate: CertificateContent, upper_bound: float) -> str:
    """Each member has one size; where they differ, the mean of them is less than the largest."""
    largest = max(member.efficiency_bound or 0.0 for member in certificate.members)
    power = MEASURES[certificate.efficiency.measure].is_power
    if largest <= upper_bound * (1 + TOLERANCE):
        largest = upper_bound
    every = (
        f"set has a volume of at most {at_most(largest)}" if power else f"interval is at most {at_most(largest)} wide"
    )
    if largest == upper_bound:
        return f"Every {every}, but for rounding."
    return (
        f"The mean {certificate.efficiency.measure} of future sets, each by a member that is drawn for it, is at most "
        f"{at_most(upper_bound)}, and every {every}, but for rounding."
    )


def _mean(efficiency: Efficiency) -> str | None:
    if efficiency.upper_bound is None or efficiency.cap is None:
        return None
    unit, cut = MEASURES[efficiency.measure].unit, cut_clause(efficiency.measure, efficiency.cap)
    return (
        f"With probability at least {promise(efficiency.gamma)}, the mean size ({efficiency.measure}) of future sets "
        f"is at most {at_most(efficiency.upper_bound)}{unit}{cut}."
    )


def _quantile(efficiency: Efficiency) -> str | None:
    if efficiency.quantile is None:
        return None
    quantile = efficiency.quantile
    return (
        f"With probability at least {promise(quantile.gamma)}, at most {risk(quantile.share)} of future sets are "
        f"larger than {at_most(quantile.size)}{MEASURES[efficiency.measure].unit}."
    )


def cut_clause(measure: str, cap: float) -> str:
    """What a mean leaves out of sizes that are cut, behind a bound on it; a number of labels is never cut."""
    return "" if MEASURES[measure].is_count else f", where sizes above {at_most(cap)} count as {at_most(cap)}"
