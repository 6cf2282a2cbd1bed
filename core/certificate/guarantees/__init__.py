"""The guarantees that a certificate can state, one per file, found by the bound that the certificate names."""

from certiset.core.certificate.content import Coverage
from certiset.core.certificate.guarantees.base import CoverageLevels, Guarantee, Step
from certiset.core.registry import Registry

__all__ = [
    "GUARANTEES",
    "CoverageLevels",
    "Guarantee",
    "Step",
    "guarantee_of",
    "point_guarantee",
    "posterior_guarantee",
    "risks_of",
]

GUARANTEES: Registry[Guarantee] = Registry("guarantee", __name__, Guarantee)


def guarantee_of(coverage: Coverage) -> Guarantee:
    """The guarantee that a certificate states."""
    return GUARANTEES[coverage.bound]


def risks_of(name: str) -> int:
    """How many times delta a promise of that name may fail with; the least for a name that stands for several."""
    return max((one.risks for one in GUARANTEES.values() if one.name == name), default=Guarantee.risks)


def point_guarantee(bound: str) -> Guarantee:
    """For parameters as they are, without a posterior: by that bound if it is for this, else by Vovk 2b."""
    return GUARANTEES["vovk_2b" if GUARANTEES[bound].needs_posterior else bound]


def posterior_guarantee(name: str, bound: str) -> Guarantee:
    """For draws from a posterior, under the guarantee of that name: by that bound if it belongs to it."""
    fitting = [one for one in GUARANTEES.values() if one.needs_posterior and one.name == name]
    return next((one for one in fitting if one.bound == bound), fitting[0])
