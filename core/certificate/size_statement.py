"""The sentence about the size of the sets."""

from certiset.core.certificate.content import CertificateContent, Efficiency
from certiset.core.certificate.rounding import at_most, promise, risk

_UNITS = {"labels": " labels", "width": "", "volume": ""}


def size_statement(certificate: CertificateContent) -> str | None:
    """What is promised about the size; None where nothing is."""
    efficiency = certificate.efficiency
    if efficiency.bound == "exact" and efficiency.upper_bound is not None:
        return _one_size(certificate, efficiency.upper_bound)
    said = [part for part in (_mean(efficiency), _quantile(efficiency)) if part is not None]
    return " ".join(said) or None


def _one_size(certificate: CertificateContent, mean: float) -> str:
    """Of several members each has a size of its own."""
    largest = max([member.efficiency_bound or mean for member in certificate.members])
    where = "" if len(certificate.members) == 1 else f"; over the members it is {at_most(mean)} on average"
    if certificate.efficiency.measure == "width":
        return f"Every interval is at most {at_most(largest)} wide, but for rounding{where}."
    return f"Every set has a volume of at most {at_most(largest)}, but for rounding{where}."


def _mean(efficiency: Efficiency) -> str | None:
    if efficiency.upper_bound is None or efficiency.cap is None:
        return None
    unit = _UNITS[efficiency.measure]
    cut = ""
    if efficiency.measure != "labels":
        cut = f", where sizes above {at_most(efficiency.cap)} count as {at_most(efficiency.cap)}"
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
        f"larger than {at_most(quantile.size)}{_UNITS[efficiency.measure]}."
    )
