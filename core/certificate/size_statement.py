"""The sentence about the size of the sets."""

from certiset.core.certificate.checks import TOLERANCE
from certiset.core.certificate.content import EXACT, CertificateContent, Efficiency
from certiset.core.certificate.population import is_by_class
from certiset.core.certificate.rounding import at_most, promise, risk
from certiset.core.certificate.size_cap import cut_clause
from certiset.core.certificate.sizes import QUANTILE_SHARE
from certiset.core.sets.measures import MEASURES


def size_statement(certificate: CertificateContent) -> str | None:
    """What is promised about the size; None where nothing is."""
    efficiency = certificate.efficiency
    if certificate.groups is not None and not is_by_class(certificate):
        return " ".join(part for part in (_by_group(certificate), _quantiles(certificate)) if part) or None
    if efficiency.is_exact and efficiency.upper_bound is not None:
        return _exact(certificate, efficiency.upper_bound)
    said = [part for part in (_mean(efficiency), _quantile(efficiency)) if part is not None]
    return " ".join(said) or None


def _by_group(certificate: CertificateContent) -> str | None:
    """Of those groups for which a bound is stated."""
    efficiency = certificate.efficiency
    stated = [group for group in certificate.groups or [] if group.upper_bound is not None]
    if not stated:
        return None
    groups = f"each of {len(stated)} groups" if len(stated) > 1 else "one group"
    most = max(group.upper_bound or 0.0 for group in stated)
    unit = MEASURES[efficiency.measure].unit
    end = f"is at most what the line of its group states, which is {at_most(most)}{unit} or less"
    if all(group.bound == EXACT for group in stated):
        return f"The size ({efficiency.measure}) of every set of {groups} {end}, but for rounding."
    cut = cut_clause(efficiency.measure, efficiency.cap) if efficiency.cap is not None else ""
    return (
        f"With probability at least {promise(efficiency.gamma)}, the mean size ({efficiency.measure}) of the future "
        f"sets of {groups}, all at once, {end}{cut}."
    )


def _quantiles(certificate: CertificateContent) -> str | None:
    """Of those groups for which one is stated."""
    efficiency = certificate.efficiency
    sizes = [group.size_quantile for group in certificate.groups or [] if group.size_quantile is not None]
    if not sizes:
        return None
    groups = f"each of {len(sizes)} groups, all at once," if len(sizes) > 1 else "one group"
    return (
        f"With probability at least {promise(efficiency.gamma)}, at most {risk(QUANTILE_SHARE)} of the future sets of "
        f"{groups} are larger than what its line states, which is {at_most(max(sizes))}"
        f"{MEASURES[efficiency.measure].unit} or less."
    )


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
