r"""Which groups get a threshold, and which rows calibrate each.

**Why the list may be that of the groups that occur.** Given the groups g_1..g_N of all rows, and which rows tune, the
calibration rows of group g are n_g independent draws from the law of an input in g, whatever the others hold. The list
of the groups that occur, their numbers n_g, shares and ranks are all functions of g_1..g_N: constants, given those. So
each listed group fails with probability at most its share, and any of them with at most delta, for each value of
g_1..g_N and so on average (`certiset.core.bounds.groups`). The promise is for the groups that are listed; any other
gets the whole space, which misses nothing, or no set at all. What is *not* allowed is to pool rows of several groups in
view of how many there are in D_N: given g_1..g_N the pooled rows are so many of one group and so many of another, and
no draws from the law of the pool (broken in 8.5 % of simulated calibrations where 5 % were promised).

So ``other``, which pools all groups that are not listed, has its list from elsewhere: given by the user, or from D_0
alone, of which D_N is independent: the groups that, going by their share of D_0, will have enough rows for a finite
threshold.

Where rows belong together, of each cluster of D_N the one row that was drawn counts; the same argument holds for it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.bounds import smallest_n_2b
from certiset.core.certificate.population import BY_CLASS
from certiset.core.data.arrays import CheckedData
from certiset.core.data.group_labels import MOST_GROUPS, GroupLabels, GroupName
from certiset.core.errors import DataError, OptionError
from certiset.core.fit.group_rule import OTHER, GroupRule
from certiset.core.fit.options import FitOptions
from certiset.core.fit.set_rules import without_label_scores
from certiset.core.fit.splitting import split
from certiset.core.models import Model
from certiset.core.scores.labels import LabelScore


@dataclass(frozen=True)
class Grouping:
    rule: GroupRule
    codes: NDArray[np.int64]
    """(rows,), of all rows: the place of each one's threshold, `GroupRule.count` for rows of no listed group"""

    def places(self, calibration: Tensor) -> list[Tensor]:
        """Of the rows that calibrate each group, in their order."""
        codes = self.codes[calibration.numpy()]
        return [calibration[codes == code] for code in range(self.rule.count)]


def is_grouped(options: FitOptions, data: CheckedData) -> bool:
    return data.groups is not None or options.groups == BY_CLASS


def make_grouping(
    options: FitOptions, model: Model, data: CheckedData, tuning: Tensor | None, calibration: Tensor
) -> Grouping:
    """By the options and the groups of the rows; see above what may depend on which."""
    if data.groups is None:
        labels = tuple((str(label),) for label in range(model.outputs))
        return Grouping(GroupRule(labels, by_class=True), data.y.astype(np.int64))
    names = _listed(options, data.groups, tuning, calibration)
    columns = None
    if options.groups is not None:
        columns = (options.groups,) if isinstance(options.groups, str) else tuple(options.groups)
    if options.unknown_groups == "other" and OTHER in names:
        raise DataError(
            f"One of the groups is called {OTHER[0]!r}, which is the name of the group of all others: rename it, "
            "or choose another value of unknown_groups.",
            field="groups",
        )
    rule = GroupRule(tuple(names), columns, options.unknown_groups)
    return Grouping(rule, rule.codes_in_fit(data.groups))


def check_groups(options: FitOptions, model: Model, data: CheckedData) -> None:
    """What can be refused before anything is split."""
    if options.groups == BY_CLASS and model.manifest.task != "classification":
        raise OptionError(
            "groups: class is for models of classes: name a column of groups, or array of them.", field="groups"
        )
    if options.groups == BY_CLASS and not isinstance(options.chosen_score, LabelScore):
        raise without_label_scores("groups", options.chosen_score)
    if options.groups == BY_CLASS and model.outputs > MOST_GROUPS:
        raise OptionError(
            f"at most {MOST_GROUPS:,} classes can be promised one by one, not {model.outputs:,}.", field="groups"
        )
    if data.groups is None:
        for field in ("group_list", "unknown_groups"):
            if getattr(options, field) != FitOptions.model_fields[field].default:
                raise OptionError(f"{field} is for groups by a column or an array: leave it out.", field=field)
        return
    if options.group_list is not None:
        _given(options, data.groups)


def count_groups(options: FitOptions, data: CheckedData) -> int | None:
    """How many groups have enough rows for a threshold; None where that may not be known before rows are revealed.

    What it decides may depend on what ranks depend on: the groups of rows that calibrate, one of each cluster, of which
    all that a list does not have are one group. If the list is read off D_0, that depends on where D_0 ends.
    """
    calibrating = split(options.seed, 0, data).calibration.numpy()
    if data.groups is None:
        codes = data.y
    elif options.unknown_groups != "other":
        codes = data.groups.codes
    elif options.group_list is None:
        return None
    else:
        codes = GroupRule(tuple(_given(options, data.groups)), unknown="other").codes_in_fit(data.groups)
    counts = np.unique(codes[calibrating], return_counts=True)[1]
    return max(1, int(np.sum(counts >= smallest_n_2b(options.level, options.own_delta / len(counts)))))


def _listed(options: FitOptions, groups: GroupLabels, tuning: Tensor | None, calibration: Tensor) -> list[GroupName]:
    if options.group_list is not None:
        return _given(options, groups)
    if options.unknown_groups != "other":
        rows = calibration.numpy() if tuning is None else np.append(tuning.numpy(), calibration.numpy())
        return _few_enough(groups.occurring(rows))
    if tuning is None:
        raise OptionError(
            "unknown_groups: other pools the groups that are not listed, and the list must not come from the rows that "
            "calibrate: give group_list, or choose method learned, which has rows that tune.",
            field="unknown_groups",
        )
    return _large_enough(options, groups, tuning.numpy(), len(calibration))


def _large_enough(
    options: FitOptions, groups: GroupLabels, tuning: NDArray[np.int64], calibrate: int
) -> list[GroupName]:
    """The groups of D_0 that, by their share of it, have enough of the rows that calibrate; the largest if none has."""
    found, counts = np.unique(groups.codes[tuning], return_counts=True)
    needed = smallest_n_2b(options.level, options.own_delta / (len(found) + 1))
    enough = counts * calibrate >= needed * len(tuning)
    kept = found[enough] if enough.any() else found[[int(np.argmax(counts))]]
    return _few_enough([groups.names[code] for code in kept.tolist()])


def _given(options: FitOptions, groups: GroupLabels) -> list[GroupName]:
    width = len(groups.names[0])
    listed = [(entry,) if isinstance(entry, str) else tuple(entry) for entry in options.group_list or []]
    if any(len(name) != width for name in listed):
        each = "one value" if width == 1 else f"{width} values, one for each column"
        raise OptionError(f"each group of group_list must have {each}.", field="group_list")
    if len(set(listed)) < len(listed):
        raise OptionError("group_list has a group twice.", field="group_list")
    if not set(listed) & set(groups.names):
        raise OptionError("no row belongs to any group of group_list.", field="group_list")
    return listed


def _few_enough(names: list[GroupName]) -> list[GroupName]:
    if len(names) > MOST_GROUPS:
        raise DataError(
            f"there are {len(names):,} groups, and at most {MOST_GROUPS:,} can be promised: name fewer columns.",
            field="groups",
        )
    return names
