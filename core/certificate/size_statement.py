"""The sentence about the size of the sets."""

from certiset.core.certificate.content import CertificateContent, Efficiency
from certiset.core.certificate.rounding import at_most, promise, risk

_UNITS = {"labels": " labels", "width": "", "volume": ""}


def size_statement(certificate: CertificateContent) -> str | None:
    """What is promised about the size; None where nothing is."""
    efficiency = certificate.efficiency
    if efficiency.bound == "exact" and efficiency.upper_bound is not None:
        return f"Every interval is at most {at_most(efficiency.upper_bound)} wide, but for rounding."
    said = [part for part in (_mean(efficiency), _quantile(efficiency)) if part is not None]
    return " ".join(said) or None


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
