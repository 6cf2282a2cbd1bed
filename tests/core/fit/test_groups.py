"""Every group, or class, with a threshold of its own: calibrated on its own rows, certified, saved and audited."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from certiset.core.bounds import TooFewPointsError, group_shares
from certiset.core.certificate import Certificate
from certiset.core.certificate.completion import completed
from certiset.core.data.arrays import CheckedData
from certiset.core.data.frame import Frame, TextColumn
from certiset.core.errors import DamagedFileError, DataError, OptionError
from certiset.core.fit import Predictor, fit, load
from certiset.core.fit.audit import audit
from certiset.core.fit.fitting import check
from certiset.core.fit.saved_predictor import TENSORS, file_checks
from certiset.core.fit.splitting import split
from certiset.core.models import Model

CLASSES, ROWS = 4, 900
NAMES = np.array(["a", "b", "rare"])
QUICK: dict[str, Any] = {"prior": {"steps": 20}}


def logits_model() -> Model:
    manifest = {"name": "logits", "task": "classification", "classes": CLASSES, "input_shape": [CLASSES]}
    return Model.from_manifest(manifest)


def logits(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[Any]]:
    """Rows of group b are harder, those of group rare too few."""
    rng = np.random.default_rng(seed)
    place = rng.choice(3, size=ROWS, p=[0.6, 0.38, 0.02])
    y = rng.integers(CLASSES, size=ROWS)
    x = np.array([4.0, 1.5, 1.0])[place][:, None] * np.eye(CLASSES)[y] + rng.normal(size=(ROWS, CLASSES))
    return x, y, NAMES[place]


def numbers_model() -> Model:
    return Model.from_manifest({"name": "f", "task": "regression", "input_shape": [1]})


def numbers(seed: int = 0) -> tuple[Frame, NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    x, side, level = rng.normal(size=ROWS), rng.choice(["left", "right"], size=ROWS), rng.integers(2, size=ROWS)
    y = x + rng.normal(size=ROWS) * (1 + 2 * level)
    return Frame(x[:, None], ["x"], {"side": TextColumn.of(side.tolist()), "level": level}), y


@pytest.fixture(scope="module")
def by_column() -> Predictor:
    x, y, groups = logits()
    return fit(logits_model(), x, y, method="standard", groups=groups)


@pytest.fixture(scope="module")
def by_class() -> Predictor:
    x, y, _ = logits()
    return fit(logits_model(), x, y, method="standard", groups="class")


def mask_of(predictor: Predictor, x: NDArray[Any], groups: Any = None) -> NDArray[np.bool_]:
    found: Any = predictor.predict_set(x, groups=groups)
    return np.asarray(found.mask)


def scores_of(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return -torch.log_softmax(torch.from_numpy(x), dim=-1).numpy()


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


@pytest.mark.parametrize("method", ["standard", "learned", "auto"])
@pytest.mark.parametrize("settings", [{}, {"ties": "hash", "non_empty": True}, {"score": "aps", "dtype": "float64"}])
@pytest.mark.parametrize("kind", ["column", "class"])
def test_certificates_hold_and_predictors_are_read_back(
    method: Any, settings: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    x, y, names = logits()
    groups = "class" if kind == "class" else names
    predictor = fit(logits_model(), x, y, method=method, groups=groups, **settings, **QUICK)
    verification = predictor.certificate.verify()
    assert verification, [check for check in verification.checks if not check.ok]
    assert Certificate.from_json(predictor.certificate.to_json()) == predictor.certificate
    predictor.save(tmp_path)
    again, fresh = load(tmp_path), logits(2)
    asked = None if kind == "class" else fresh[2]
    sets = predictor.predict_set(fresh[0], groups=asked)
    assert np.array_equal(mask_of(again, fresh[0], asked), mask_of(predictor, fresh[0], asked))
    said = file_checks(tmp_path / TENSORS, predictor.stored.description(), predictor.certificate)
    assert all(check.ok for check in said)
    covered = sets.contains(fresh[1])
    assert min(covered[fresh[2] == name].mean() for name in NAMES[:2]) > (0.8 if kind == "column" else 0.5)


@pytest.mark.parametrize("score", ["residual", "scaled_residual"])
@pytest.mark.parametrize("groups", ["side", ["side", "level"]])
def test_intervals_by_columns_that_cross_agree_with_their_data(score: str, groups: Any, tmp_path: Path) -> None:
    x, y = numbers()
    predictor = fit(numbers_model(), x, y, method="learned", groups=groups, score=score, **QUICK)
    assert predictor.certificate.verify()
    found = predictor.certificate.groups
    assert found is not None
    assert len(found) == (2 if groups == "side" else 4)
    assert all(group.upper_bound is not None for group in found)
    predictor.save(tmp_path)
    said = audit(predictor.certificate, numbers_model(), x, y, tmp_path / TENSORS, predictor.stored.description())
    assert all(check.ok for check in said), [check for check in said if not check.ok]
    assert {f"threshold of group {', '.join(group.name)}" for group in found} <= {check.name for check in said}
    hard = predictor.predict_set(x).size[np.asarray(x.further["level"]) == 1].mean()
    assert (hard > 1.5 * predictor.predict_set(x).size.min()) == (groups != "side")


def test_an_audit_notices_rows_that_changed_their_group(tmp_path: Path) -> None:
    x, y = numbers()
    predictor = fit(numbers_model(), x, y, method="standard", groups="side", score="residual")
    predictor.save(tmp_path)
    side = x.further["side"]
    assert isinstance(side, TextColumn)
    codes = side.codes.copy()
    codes[:40] = 1 - codes[:40]
    other = replace(x, further={"side": TextColumn(codes, side.values)})
    said = audit(predictor.certificate, numbers_model(), other, y, tmp_path / TENSORS, predictor.stored.description())
    wrong = {check.name for check in said if not check.ok}
    assert {"data's SHA-256", "points of groups"} <= wrong


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


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"k": 51}, "ranks of groups at their shares"),
        ({"delta": 0.04}, "shares of delta"),
        ({"n": 600}, "ranks of groups by their numbers of points"),
        ({"tau": None}, "finite thresholds"),
        ({"upper_bound": 0.5}, "mean size of group a"),
        ({"lacking": 3}, "points that groups lack"),
        ({"name": ["b"]}, "names of groups"),
    ],
)
def test_forged_groups_are_noticed(by_column: Predictor, change: dict[str, Any], check: str) -> None:
    certificate = by_column.certificate
    groups = [replace(certificate.groups[0], **change), *certificate.groups[1:]]  # type: ignore[index]
    members = [replace(certificate.members[0], k=sum(g.k for g in groups), tau=max(g.tau or 0.0 for g in groups))]
    forged = completed(replace(certificate, groups=groups, members=members))
    verification = forged.verify()
    assert not verification
    assert check in {one.name for one in verification.checks if not one.ok}


def test_a_certificate_cannot_lose_its_groups(by_column: Predictor) -> None:
    certificate = by_column.certificate
    assert not completed(replace(certificate, groups=None)).verify()
    coverage = replace(certificate.coverage, bound="vovk_2b")
    assert not completed(replace(certificate, coverage=coverage)).verify()


def test_a_file_with_other_groups_is_not_the_one_that_was_certified(by_column: Predictor, tmp_path: Path) -> None:
    rule = by_column.scorer.rule
    assert rule.groups is not None
    swapped = replace(rule, groups=replace(rule.groups, names=(("b",), ("a",), ("rare",))))
    replace(by_column, scorer=replace(by_column.scorer, rule=swapped)).save(tmp_path)
    with pytest.raises(DamagedFileError, match="does not hold the"):
        load(tmp_path)


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


@pytest.mark.parametrize("options", [{"method": "standard"}, {"method": "learned", **QUICK}, {"non_empty": True}])
def test_the_mean_size_with_a_threshold_for_each_class_is_certified_on_the_calibration_rows(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    x, y, _ = logits()
    predictor = fit(
        logits_model(), np.concatenate([x, logits(7)[0]]), np.append(y, logits(7)[1]), groups="class", **options
    )
    certificate, size = predictor.certificate, predictor.predict_set(logits(5)[0]).size.mean()
    bound = certificate.efficiency.upper_bound
    assert bound is not None
    assert size < bound < 1.6 * size
    assert certificate.verify()
    assert f"the mean size (labels) of future sets is at most {bound:.3g}"[:50] in str(certificate.size_statement)
    lower = replace(certificate, efficiency=replace(certificate.efficiency, upper_bound=0.9 * bound))
    assert not completed(lower).verify()
    predictor.save(tmp_path)
    file, description = tmp_path / "predictor.safetensors", predictor.stored.description()
    rows = np.concatenate([x, logits(7)[0]]), np.append(y, logits(7)[1])
    assert [c.name for c in audit(certificate, logits_model(), *rows, file, description) if not c.ok] == []


def test_a_class_that_turns_out_to_have_no_threshold_leaves_no_bound() -> None:
    """It was not expected, so that its label is in no set of the grid."""
    x, y, _ = logits()
    few = np.flatnonzero((y != 3) | (np.cumsum(y == 3) <= 12))
    made = fit(logits_model(), x[few], y[few], groups="class", method="standard")
    assert made.certificate.efficiency.upper_bound is None
    assert {"groups_too_small", "mean_size_not_certified"} <= {caveat.code for caveat in made.certificate.caveats}


def test_ties_by_a_hash_leave_the_mean_size_of_class_thresholds_to_fresh_inputs() -> None:
    x, y, _ = logits()
    made = fit(logits_model(), x, y, groups="class", method="standard", ties="hash")
    assert made.certificate.efficiency.upper_bound is None


def test_the_size_that_few_sets_of_a_group_exceed_is_certified_and_checked(by_column: Predictor) -> None:
    certificate, (x, _, names) = by_column.certificate, logits(5)
    groups = certificate.groups or []
    assert "at most 10 % of the future sets of each of 2 groups" in str(certificate.size_statement)
    for group in groups[:2]:
        own = names == group.name[0]
        sizes = by_column.predict_set(x[own], groups=names[own]).size
        assert group.size_quantile is not None
        assert np.mean(sizes > group.size_quantile) < 0.12
    assert groups[2].size_quantile is None
    for forged in ({"size_k": 300}, {"size_quantile": 0.5}, {"open_sizes": 1}, {"size_quantile": None}):
        changed = replace(certificate, groups=[replace(groups[0], **forged), *groups[1:]])
        assert not completed(changed).verify(), forged


def test_fresh_inputs_certify_the_size_of_every_group_and_of_class_thresholds(
    by_column: Predictor, by_class: Predictor
) -> None:
    x, _, names = logits(5)
    found = by_column.certify_size(x, groups=names)
    assert found.verify()
    assert [group.name for group in found.sizes.groups or []] == [["a"], ["b"]]
    assert found.sizes.without == int(np.sum(names == "rare"))
    for group in found.sizes.groups or []:
        size = by_column.predict_set(x[names == group.name[0]], groups=names[names == group.name[0]]).size.mean()
        assert group.empirical == pytest.approx(size)
        assert size < group.upper_bound < size + 0.5
    first = replace((found.sizes.groups or [])[0], upper_bound=0.5)
    forged = replace(found, sizes=replace(found.sizes, groups=[first, *(found.sizes.groups or [])[1:]]))
    assert not replace(forged, id=forged.digest_id).verify()
    with pytest.raises(DataError, match="say the group"):
        by_column.certify_size(x)
    assert by_class.certify_size(x).verify()


def test_auto_reveals_few_rows_where_there_are_groups_or_none() -> None:
    x, y, names = logits()
    few = fit(logits_model(), x, y, groups=names, **QUICK)
    assert few.certificate.provenance.n_tune == int(0.1 * ROWS)
    many = fit(logits_model(), x, y, groups=np.arange(ROWS) % 6, **QUICK)
    assert many.certificate.provenance.n_tune == 0
    standard = fit(logits_model(), x, y, groups=np.arange(ROWS) % 6, method="standard")
    assert [g.tau for g in many.certificate.groups or []] == [g.tau for g in standard.certificate.groups or []]
