"""The sentence about the size of the sets."""

from certiset.core.certificate.checks import TOLERANCE
from certiset.core.certificate.content import CertificateContent, Efficiency
from certiset.core.certificate.rounding import at_most, promise, risk

_UNITS = {"labels": " labels", "width": "", "volume": ""}


def size_statement(certificate: CertificateContent) -> str | None:
    """What is promised about the size; None where nothing is."""
    efficiency = certificate.efficiency
    if efficiency.bound == "exact" and efficiency.upper_bound is not None:
        return _exact(certificate, efficiency.upper_bound)
    said = [part for part in (_mean(efficiency), _quantile(efficiency)) if part is not None]
    return " ".join(said) or None


def _exact(certificate: CertificateContent, upper_bound: float) -> str:
    """Each member has one width; where they differ, the mean of them is less than the largest."""
    widest = max(member.efficiency_bound or 0.0 for member in certificate.members)
    if widest <= upper_bound * (1 + TOLERANCE):
        return f"Every interval is at most {at_most(upper_bound)} wide, but for rounding."
    return (
        f"The mean width of future sets, each by a member that is drawn for it, is at most {at_most(upper_bound)}, and "
        f"every interval is at most {at_most(widest)} wide, but for rounding."
    )


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
