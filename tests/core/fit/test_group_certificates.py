"""Certificates of groups: they hold, bound the sizes of every group, agree with their data, and cannot be forged."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.certificate import Certificate
from certiset.core.certificate.completion import completed
from certiset.core.data.frame import TextColumn
from certiset.core.errors import DamagedFileError, DataError
from certiset.core.fit import Predictor, fit, load
from certiset.core.fit.audit import audit
from certiset.core.fit.saved_predictor import TENSORS, file_checks
from tests.core.fit.grouped_rows import (
    NAMES,
    QUICK,
    logits,
    logits_model,
    mask_of,
    numbers,
    numbers_model,
)


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
