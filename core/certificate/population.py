"""For whom a promise is made: future inputs, or one input of a new patient where rows belong together."""

import re

from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.rounding import promise

EQUAL_ROWS = "equal_rows"
"""what the option clusters is called where equal rows are one cluster"""
_LONGEST_NAME = 60


def contains_the_truth(certificate: CertificateContent, failing: float) -> str:
    """The end of a promise about sets: contain the truth for so many, or in so many cases."""
    if not is_clustered(certificate):
        return f"contain the truth for at least {promise(failing)} of future inputs"
    return (
        f"contain the truth of one randomly chosen input of {new_cluster(certificate)} with probability at least "
        f"{promise(failing)}"
    )


def independence(certificate: CertificateContent) -> str:
    """What must be drawn independently."""
    if not is_clustered(certificate):
        return (
            "Calibration rows and future inputs are drawn independently from one distribution. After a drift the "
            "promise is void."
        )
    return (
        "Clusters of rows, those that calibrate and those to come, are drawn independently from one distribution; rows "
        "of one cluster may depend on each other. After a drift the promise is void."
    )


def averaging(certificate: CertificateContent) -> str:
    """What coverage is an average over."""
    if not is_clustered(certificate):
        return "Coverage is on average over future inputs, not for each single input or group of inputs."
    return (
        "Coverage is on average over future clusters, of each of which one input is chosen at random: where large "
        "clusters are harder than small ones, more is missed per input. It is not for each single input or group of "
        "inputs."
    )


def is_clustered(certificate: CertificateContent) -> bool:
    return certificate.data is not None and certificate.data.clusters is not None


def new_cluster(certificate: CertificateContent) -> str:
    """By the name of the column if it is a word, so that no name can say something else."""
    name = certificate.data.cluster_column if certificate.data is not None else None
    if name is None:
        return "a new cluster"
    if name == EQUAL_ROWS:
        return "a new group of equal rows"
    if re.fullmatch(r"[^\W\d_]{1,30}", name):
        return f"a new {name}"
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
    return f"a new cluster, by the column {shown!r},"
