"""What a reader must know of groups: which have too few rows, and that nothing is certified about their sizes."""

from certiset.core.certificate.content import Caveat
from certiset.core.certificate.group_content import Group

NOT_CERTIFIED = "mean_size_not_certified"


def group_caveats(groups: list[Group], unit: str, *, by_class: bool) -> list[Caveat]:
    caveats = []
    lacking = [group for group in groups if group.lacking]
    if lacking:
        many, one = ("classes", "class") if by_class else ("groups", "group")
        each = ", ".join(f"{', '.join(group.name)[:60]!r} ({group.lacking} more)" for group in lacking[:10])
        what = f"every set has the label of such a {one}" if by_class else f"sets of such a {one} hold everything"
        caveats.append(
            Caveat(
                "groups_too_small",
                f"{len(lacking)} of {len(groups)} {many} have too few {unit} for a threshold, so that {what}: "
                f"{each}{', ...' if len(lacking) > 10 else ''}. With as many more {unit} that calibrate, each has one.",
            )
        )
    if all(group.upper_bound is None for group in groups):
        why = (
            "With a threshold for each class all of them enter every set, and those that were expected before the "
            "calibration rows were seen are too far from these for a bound on the mean size"
            if by_class
            else "No mean size is certified for any group"
        )
        caveats.append(Caveat(NOT_CERTIFIED, f"{why}. Fresh inputs, without truths, certify it (certify_size)."))
    return caveats
