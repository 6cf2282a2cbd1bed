"""For whom a promise is made: future inputs, perhaps of another population, or one input of a new patient."""

import re

from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.rounding import promise
from certiset.core.certificate.shift import drawn, inputs_of

EQUAL_ROWS = "equal_rows"
"""what the option clusters is called where equal rows are one cluster"""
BY_CLASS = "class"
"""what the option groups is called where the classes themselves are the groups"""
OTHER_GROUPS = "other"
"""what the option unknown_groups is called where all groups that are not listed share one threshold"""
_LONGEST_NAME = 60


def contains_the_truth(certificate: CertificateContent, failing: float) -> str:
    """The end of a promise about sets: contain the truth for so many, or in so many cases."""
    if certificate.groups is not None:
        return _in_every_group(certificate, failing)
    return contains_the_truth_for(certificate, promise(failing))


def contains_the_truth_for(certificate: CertificateContent, share: str) -> str:
    """The same for a share in words."""
    if not is_clustered(certificate):
        return f"contain the truth for at least {share} of future {_inputs(certificate)}"
    return (
        f"contain the truth of one randomly chosen input of {new_cluster(certificate)} with probability at least "
        f"{share}"
    )


def _inputs(certificate: CertificateContent) -> str:
    return "inputs" if certificate.shift is None else inputs_of(certificate.shift)


def _in_every_group(certificate: CertificateContent, failing: float) -> str:
    groups = certificate.groups or []
    without = sum(group.tau is None for group in groups)
    many, one = ("classes", "class") if is_by_class(certificate) else ("groups", "group")
    if is_clustered(certificate):
        inputs = f"one randomly chosen input of {new_cluster(certificate)}"
        kept = f"contain the truth of {inputs} with probability at least {promise(failing)}, whichever {one} it is in"
    else:
        inputs = f"{_inputs(certificate)} {'of' if certificate.shift is None else 'in'} every {one}"
        kept = f"contain the truth for at least {promise(failing)} of the future {inputs}"
    said = f"{kept}: each of the {len(groups)} {many} that are listed, all at once"
    if is_by_class(certificate):
        said += ", and so under any mixture of the classes"
    if without:
        has, its = ("has", "its") if without == 1 else ("have", "their")
        what = f"{its} label is in every set" if is_by_class(certificate) else f"everything is in {its} sets"
        said += f" ({without} of them {has} too few points for a threshold, and {what})"
    return said


def independence(certificate: CertificateContent) -> str:
    """What must be drawn independently."""
    if certificate.shift is not None:
        return drawn(certificate.shift)
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
    if certificate.groups is not None:
        return _averaging_by_group(certificate)
    if not is_clustered(certificate):
        return (
            f"Coverage is on average over future {_inputs(certificate)}, not for each single input or group of inputs."
        )
    return (
        "Coverage is on average over future clusters, of each of which one input is chosen at random: where large "
        "clusters are harder than small ones, more is missed per input. It is not for each single input or group of "
        "inputs."
    )


def _averaging_by_group(certificate: CertificateContent) -> str:
    one = "class" if is_by_class(certificate) else "group"
    of = f"the future inputs of each {one}"
    if is_clustered(certificate):
        of += ", one chosen at random of each cluster"
    return f"Coverage is on average over {of}, not for each single input or any other group of inputs."


def is_by_class(certificate: CertificateContent) -> bool:
    return certificate.groups is not None and (certificate.options or {}).get("groups") == BY_CLASS


def listed_groups(certificate: CertificateContent) -> list[list[str]]:
    """The groups that have a place of their own: all but the one that stands for every other."""
    names = [group.name for group in certificate.groups or []]
    return names[:-1] if (certificate.options or {}).get("unknown_groups") == OTHER_GROUPS else names


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
