"""Every group, or class, with a threshold of its own: calibrated on its own rows, and asked for by its name."""

from typing import Any

import numpy as np
import pytest

from certiset.core.bounds import TooFewPointsError, group_shares
from certiset.core.data.arrays import CheckedData
from certiset.core.errors import DataError, OptionError
from certiset.core.fit import Predictor, fit
from certiset.core.fit.fitting import check
from certiset.core.fit.splitting import split
from tests.core.fit.grouped_rows import (
    CLASSES,
    NAMES,
    QUICK,
    ROWS,
    logits,
    logits_model,
    mask_of,
    numbers,
    numbers_model,
    scores_of,
)


def test_each_group_has_the_order_statistic_of_its_own_rows(by_column: Predictor) -> None:
    x, y, names = logits()
    found = by_column.certificate.groups
    assert found is not None
    counts = [int(np.sum(names == name)) for name in NAMES]
    shares = group_shares(counts, 0.1, 0.05)
    assert [(group.name, group.n, group.k) for group in found] == [
        ([name], n, k) for name, n, k in zip(NAMES.tolist(), counts, shares.ranks, strict=True)
    ]
    own = scores_of(x)[np.arange(ROWS), y]
    for group in found[:2]:
        assert group.tau == pytest.approx(np.sort(own[names == group.name[0]])[group.n - group.k], abs=1e-3)
    assert found[2].tau is None
    assert found[2].lacking == shares.rows_needed - counts[2]
    assert [caveat.code for caveat in by_column.certificate.caveats] == ["groups_too_small"]
    assert f"'rare' ({found[2].lacking} more)" in by_column.certificate.caveats[0].message


def test_a_set_is_that_of_its_group_whatever_comes_with_it(by_column: Predictor) -> None:
    x, _, names = logits(1)
    together = mask_of(by_column, x, names)
    for name in NAMES.tolist():
        alone = mask_of(by_column, x[names == name], names[names == name])
        assert np.array_equal(alone, together[names == name])
    tau = {group.name[0]: np.inf if group.tau is None else group.tau for group in by_column.certificate.groups or []}
    expected = scores_of(x) <= np.array([tau[name] for name in names])[:, None]
    assert np.mean(expected != together) < 1e-3


def test_every_label_enters_by_its_own_threshold(by_class: Predictor) -> None:
    x, y, _ = logits(1)
    certificate = by_class.certificate
    tau = np.array([group.tau for group in certificate.groups or []])
    assert np.mean((scores_of(x) <= tau) != mask_of(by_class, x)) < 1e-3
    assert "under any mixture of the classes" in certificate.statement
    assert certificate.caveats == []
    with pytest.raises(DataError, match="leave groups out"):
        by_class.predict_set(x, groups=y)


def test_clusters_count_once_in_the_group_of_the_row_that_was_drawn() -> None:
    x, y, names = logits()
    clusters = np.repeat(np.arange(ROWS // 3), 3)
    predictor = fit(logits_model(), x, y, method="standard", groups=names, clusters=clusters)
    found = predictor.certificate.groups
    assert found is not None
    assert sum(group.n for group in found) == ROWS // 3
    drawn = split(0, 0, CheckedData(x, y, clusters=clusters)).calibration.numpy()
    assert [group.n for group in found] == [int(np.sum(names[drawn] == name)) for name in NAMES]
    assert "one randomly chosen input of a new cluster" in predictor.certificate.statement
    assert "whichever group it is in" in predictor.certificate.statement
    assert predictor.certificate.verify()


def test_unknown_groups_get_everything_nothing_or_the_others_threshold() -> None:
    x, y, names = logits()
    asked = np.array(["a", "new"])
    whole = fit(logits_model(), x, y, method="standard", groups=names)
    assert whole.predict_set(x[:2], groups=asked).size[1] == CLASSES
    refusing = fit(logits_model(), x, y, method="standard", groups=names, unknown_groups="refuse")
    with pytest.raises(DataError, match=r"'new' is not one of those .* 'a', 'b', 'rare'") as caught:
        refusing.predict_set(x[:2], groups=asked)
    assert caught.value.field == "groups"
    other = fit(logits_model(), x, y, method="standard", groups=names, unknown_groups="other", group_list=["a"])
    found = other.certificate.groups
    assert found is not None
    assert [group.n for group in found] == [int(np.sum(names == "a")), int(np.sum(names != "a"))]
    first, second = mask_of(other, np.repeat(x[:1], 2, axis=0), ["b", "new"])
    assert np.array_equal(first, second)


def test_the_list_for_an_other_group_does_not_depend_on_the_rows_that_calibrate() -> None:
    x, y, names = logits()
    calibrating = split(0, ROWS // 2, CheckedData(x, y)).calibration.numpy()
    changed = names.astype("U4")
    changed[calibrating[:200]] = "new"
    for groups in (names, changed):
        predictor = fit(logits_model(), x, y, method="learned", groups=groups, unknown_groups="other", **QUICK)
        found = predictor.certificate.groups
        assert found is not None
        assert [group.name[0] for group in found] == ["a", "b", "every other group"]
    with pytest.raises(OptionError, match="give group_list, or choose method learned"):
        fit(logits_model(), x, y, method="standard", groups=names, unknown_groups="other")
    taken = np.where(names == "a", "every other group", names)
    with pytest.raises(DataError, match="rename it"):
        fit(logits_model(), x, y, method="learned", groups=taken, unknown_groups="other", **QUICK)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, "say the group of every input"),
        (["a"], "1 entries for 2 rows"),
        ("a", "one entry per row"),
        ([["a", "b"], ["a", "b"]], "a text or a number"),
        ([None, "a"], "missing in row 1"),
        ([{}, "a"], "a text or a number"),
        (np.array([[1, 2], [3, 4]]), "one entry per row"),
    ],
)
def test_groups_that_make_no_sense_are_refused(by_column: Predictor, groups: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        by_column.predict_set(np.zeros((2, CLASSES)), groups=groups)
    assert caught.value.field == "groups"


def test_numbers_name_groups_alike_in_every_form() -> None:
    x, y, names = logits()
    numbered = (names == "b").astype(np.float32)
    predictor = fit(logits_model(), x, y, method="standard", groups=numbered)
    asked: list[Any] = [[1, 0], [1.0, 0.0], np.array([1, 0], dtype=np.uint8), [True, False], ["1", "0"]]
    sets = [mask_of(predictor, x[:2], given) for given in asked]
    assert all(np.array_equal(sets[0], other) for other in sets)


def test_what_cannot_be_grouped_is_refused_before_any_work() -> None:
    x, y, names = logits()
    with pytest.raises(TooFewPointsError, match="no group has enough rows"):
        fit(logits_model(), x, y, method="standard", groups=np.arange(ROWS) // 10)
    with pytest.raises(DataError, match="there are 1,800 groups"):
        fit(logits_model(), np.repeat(x, 2, axis=0), np.repeat(y, 2), groups=np.arange(2 * ROWS))
    with pytest.raises(OptionError, match="group_list is for groups"):
        fit(logits_model(), x, y, groups="class", group_list=["0"])
    with pytest.raises(OptionError, match="must have one value"):
        fit(logits_model(), x, y, groups=names, group_list=[["a", "b"]])
    with pytest.raises(OptionError, match="no row belongs"):
        fit(logits_model(), x, y, groups=names, group_list=["nobody"])
    with pytest.raises(OptionError, match="for models of classes"):
        fit(numbers_model(), *numbers(), groups="class")
    with pytest.raises(DataError, match="there is no column 'sied'"):
        fit(numbers_model(), *numbers(), groups="sied")


def test_a_check_says_which_groups_lack_rows_before_anything_is_fitted(by_column: Predictor) -> None:
    x, y, names = logits()
    _, plan = check(logits_model(), x, y, method="standard", groups=names)
    assert plan.groups is not None
    stated = [
        (", ".join(group.name), group.n, group.k, group.lacking or 0) for group in by_column.certificate.groups or []
    ]
    assert [(one.name, one.n, one.k, one.lacking) for one in plan.groups.groups] == stated
    assert [one.name for one in plan.groups.too_small] == ["rare"]
    assert check(logits_model(), x, y, method="standard")[1].groups is None


def test_auto_reveals_few_rows_where_there_are_groups_or_none() -> None:
    x, y, names = logits()
    few = fit(logits_model(), x, y, groups=names, **QUICK)
    assert few.certificate.provenance.n_tune == int(0.1 * ROWS)
    many = fit(logits_model(), x, y, groups=np.arange(ROWS) % 6, **QUICK)
    assert many.certificate.provenance.n_tune == 0
    standard = fit(logits_model(), x, y, groups=np.arange(ROWS) % 6, method="standard")
    assert [g.tau for g in many.certificate.groups or []] == [g.tau for g in standard.certificate.groups or []]


@pytest.mark.parametrize("listed", [["a"], None])
def test_how_many_rows_auto_reveals_does_not_depend_on_which_groups_the_others_are(listed: list[str] | None) -> None:
    """These have one threshold together: given how many of them calibrate, which they are must be left to chance."""
    x, y, names = logits()
    plans = []
    for others in (1, 6):
        groups = np.where(names == "a", "a", np.char.add("other ", (np.arange(ROWS) % others).astype("U1")))
        plans.append(check(logits_model(), x, y, groups=groups, unknown_groups="other", group_list=listed)[1])
    assert plans[0].n_tune == plans[1].n_tune == int(0.1 * ROWS)


def test_how_many_rows_auto_reveals_depends_on_the_row_of_each_cluster_that_was_drawn() -> None:
    x, y, names = logits()
    clusters = np.arange(ROWS) // 2
    drawn = split(0, 0, CheckedData(x, y, clusters=clusters)).calibration.numpy()
    changed = np.char.add("new ", (np.arange(ROWS) % 6).astype("U1"))
    changed[drawn] = np.where(names[drawn] == "a", "a", "b")
    same = np.where(np.isin(np.arange(ROWS), drawn), changed, "b")
    plans = [check(logits_model(), x, y, groups=groups, clusters=clusters)[1] for groups in (same, changed)]
    assert plans[0].n_tune == plans[1].n_tune > 0
