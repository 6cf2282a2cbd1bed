"""A pool with thresholds for every group: each by the group's rows in that block, certified, audited, not forged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from certiset.core.bounds import TooFewPointsError, pool_group_shares
from certiset.core.certificate import Certificate
from certiset.core.certificate.size_statement import size_statement
from certiset.core.certificate.sizes import SizeNumbers
from certiset.core.data.arrays import CheckedData
from certiset.core.data.frame import Frame, TextColumn
from certiset.core.fit import Predictor, fit, load
from certiset.core.fit.audit import audit
from certiset.core.fit.fitting import check
from certiset.core.fit.saved_predictor import TENSORS
from certiset.core.fit.splitting import split
from certiset.core.models import Model
from tests.core.certificate.test_verification import Content, reissued
from tests.core.fit.grouped_rows import CLASSES, QUICK, logits_model, numbers_model

ROWS = 1600


def rows_of_labels(rows: int = ROWS, seed: int = 0) -> tuple[Frame, NDArray[np.int64], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    place = rng.choice(3, size=rows, p=[0.55, 0.43, 0.02])
    y = rng.integers(CLASSES, size=rows)
    x = np.array([4.0, 1.5, 1.0])[place][:, None] * np.eye(CLASSES)[y] + rng.normal(size=(rows, CLASSES))
    names = np.array(["a", "b", "rare"])[place]
    columns = [f"x{number}" for number in range(CLASSES)]
    return Frame(x, columns, {"region": TextColumn.of(names.tolist())}), y, names


def far_off(rows: int) -> tuple[Model, NDArray[np.float64], NDArray[np.int64]]:
    """A linear head whose weights are mostly noise: the more rows tune it, the better."""
    inputs, rng, fixed = 60, np.random.default_rng(0), np.random.default_rng(9)
    best, noise = 3 * fixed.normal(size=(2, CLASSES, inputs)) / np.sqrt(inputs)
    x = rng.normal(size=(rows, inputs))
    y = (x @ best.T + 0.5 * rng.gumbel(size=(rows, CLASSES))).argmax(axis=1)
    manifest = {"name": "far off", "task": "classification", "classes": CLASSES, "input_shape": [inputs]}
    head = {"head": {"kind": "mlp", "widths": [inputs, CLASSES]}}
    tensors = {"head.0.weight": (best + noise) / 3, "head.0.bias": np.zeros(CLASSES)}
    return Model.from_manifest({**manifest, **head}, tensors), x, y


@pytest.fixture(scope="module")
def pool() -> Predictor:
    x, y, _ = rows_of_labels()
    return fit(logits_model(), x, y, method="progressive", groups="region", **QUICK)


def test_each_threshold_is_of_the_rows_of_its_group_in_its_block(pool: Predictor) -> None:
    x, y, names = rows_of_labels()
    certificate = pool.certificate
    calibration = split(0, ROWS // 2, CheckedData(np.asarray(x.x), y)).calibration
    parts = torch.split(calibration, certificate.coverage.sizes or [])
    counts = [[int(np.sum(names[part.numpy()] == name)) for part in parts] for name in ("a", "b", "rare")]
    groups = certificate.groups or []
    assert [[block.n for block in group.blocks or []] for group in groups] == counts
    found = pool_group_shares(counts, 0.1, 0.05, certificate.coverage.rank_weights)
    assert [tuple(block.k for block in group.blocks or []) for group in groups] == list(found.ranks)
    assert groups[2].tau is None
    assert groups[2].lacking
    for member, part in enumerate(parts):
        for group in groups[:2]:
            own = part.numpy()[names[part.numpy()] == group.name[0]]
            sets = pool.predict_set(np.asarray(x.x)[own], member=member, groups=names[own])
            block = (group.blocks or [])[member]
            assert int(sets.contains(y[own]).sum()) == block.n + 1 - block.k


def test_it_is_promised_for_every_group_and_served_by_weight(pool: Predictor, tmp_path: Path) -> None:
    x, y, names = rows_of_labels(4000, 1)
    verification = pool.certificate.verify()
    assert verification, [check for check in verification.checks if not check.ok]
    assert "every group" in pool.certificate.statement
    assert "a promise for the mean over this pool" in pool.certificate.statement
    assert np.array_equal(pool.chances, [0.5, 0.5])
    covered = pool.predict_set(x.x, groups=names).contains(y)
    assert min(covered[names == name].mean() for name in ("a", "b")) > 0.86
    assert covered[names == "rare"].all()
    pool.save(tmp_path)
    again = load(tmp_path)
    drawn = np.arange(len(y)) % 2
    before, after = (one.predict_set(x.x, member=drawn, groups=names) for one in (pool, again))
    assert np.array_equal(before.size, after.size)
    assert Certificate.from_json(pool.certificate.to_json()) == pool.certificate
    sizes = pool.certify_size(x.x, groups=names)
    for fresh, group in zip(sizes.sizes.groups or [], pool.certificate.groups or [], strict=False):
        assert group.upper_bound is not None
        assert fresh.empirical < group.upper_bound


@pytest.mark.parametrize("settings", [{"ties": "hash", "non_empty": True}, {"score": "aps", "dtype": "float64"}])
def test_an_audit_agrees_with_the_rows_and_finds_what_does_not(settings: dict[str, Any], tmp_path: Path) -> None:
    x, y, _ = rows_of_labels()
    made = fit(logits_model(), x, y, method="progressive", groups="region", **settings, **QUICK)
    assert made.certificate.verify()
    made.save(tmp_path)
    description = made.stored.description()
    found = audit(made.certificate, logits_model(), x, y, tmp_path / TENSORS, description)
    assert all(one.ok for one in found), [one for one in found if not one.ok]
    assert "threshold of group a, member 1" in {one.name for one in found}
    moved = np.roll(y, 1)
    found = audit(made.certificate, logits_model(), x, moved, tmp_path / TENSORS, description)
    assert not all(one.ok for one in found)


@pytest.mark.parametrize("score", ["residual", "scaled_residual"])
def test_intervals_too(score: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x, level = rng.normal(size=ROWS), rng.integers(2, size=ROWS)
    y = x + rng.normal(size=ROWS) * (1 + 2 * level)
    frame = Frame(x[:, None], ["x"], {"level": level})
    made = fit(numbers_model(), frame, y, method="progressive", groups="level", score=score, **QUICK)
    assert made.certificate.verify()
    assert all(group.upper_bound is not None for group in made.certificate.groups or [])
    made.save(tmp_path)
    found = audit(made.certificate, numbers_model(), frame, y, tmp_path / TENSORS, made.stored.description())
    assert all(one.ok for one in found), [one for one in found if not one.ok]


def test_the_default_goes_on_to_a_pool_where_tuning_helps_and_every_group_has_rows_enough() -> None:
    model, x, y = far_off(2000)
    names = np.where(np.random.default_rng(0).random(2000) < 0.5, "u", "v")
    made = fit(model, x, y, groups=names)
    assert made.certificate.verify()
    assert made.members == 2, made.certificate.selection
    few = np.where(np.arange(2000) % 20 == 0, "few", names)
    assert fit(model, x, y, groups=few).members == 1, "a group has too few rows in every block"
    other = fit(model, x, y, groups=names, unknown_groups="other", group_list=["u"])
    assert other.members == 1, "who the others are is read off revealed rows"


def test_too_few_rows_are_said_before_the_fit() -> None:
    x, y, names = rows_of_labels(600, 4)
    plan = check(logits_model(), x.x, y, groups=names, method="progressive")[1]
    assert plan.groups is not None
    assert plan.groups.groups[2].lacking > 0
    many = np.array([f"group {number % 30}" for number in range(600)])
    with pytest.raises(TooFewPointsError, match="no group has enough rows in every block of a pool"):
        fit(logits_model(), x.x, y, groups=many, method="progressive")
    with pytest.raises(TooFewPointsError, match="at most 64 groups"):
        fit(logits_model(), x.x, y, groups=np.arange(600) % 100, method="progressive")


def other_weights(content: Content) -> None:
    content["coverage"]["rank_weights"] = [0.1, 0.9]
    for member, weight in zip(content["members"], (0.1, 0.9), strict=True):
        member["weight"] = weight


def higher_rank(content: Content) -> None:
    """Everywhere, with the level that follows."""
    group, size = content["groups"][0], content["members"][1]["n"]
    group["blocks"][1]["k"] += 2
    group["k"] += 2
    content["members"][1]["k"] += 2
    content["coverage"]["ranks"][1] += 2
    content["coverage"]["k"] += 2
    content["coverage"]["alpha_hat"] += 2 * content["coverage"]["rank_weights"][1] / (size + 1)


def lower_thresholds(content: Content) -> None:
    for block in content["groups"][1]["blocks"]:
        block["tau"] -= 1.0


def more_points(content: Content) -> None:
    content["groups"][0]["blocks"][0]["n"] += 50
    content["groups"][0]["n"] += 50


def a_larger_share(content: Content) -> None:
    content["groups"][0]["delta"] *= 1.5


def no_blocks(content: Content) -> None:
    for group in content["groups"]:
        del group["blocks"]


def one_block(content: Content) -> None:
    content["coverage"]["bound"] = "vovk_2b_by_group"


def a_smaller_size(content: Content) -> None:
    content["groups"][1]["upper_bound"] *= 0.9


def a_quantile(content: Content) -> None:
    content["groups"][0]["size_k"], content["groups"][0]["size_quantile"] = 1, 1.0


def a_smaller_tail(content: Content) -> None:
    content["coverage"]["tail"] /= 2


def no_counts(content: Content) -> None:
    """A bound from a mean that nothing supports."""
    group, efficiency = content["groups"][1], content["efficiency"]
    del group["size_counts"]
    finite = sum(one.get("tau") is not None for one in content["groups"])
    numbers = SizeNumbers(np.zeros(1), group["blocks"][-1]["n"], efficiency["gamma"] / finite, 1, 1)
    group["bound"], group["grid_size"], group["efficiency"] = "grid_kl", 1, group["size"] / efficiency["cap"]
    group["upper_bound"] = efficiency["cap"] * float(numbers.mean_bounds(np.array([group["efficiency"]]), "grid_kl")[0])


@pytest.mark.parametrize(
    "edit",
    [
        other_weights,
        higher_rank,
        lower_thresholds,
        more_points,
        a_larger_share,
        no_blocks,
        one_block,
        a_smaller_size,
        a_quantile,
        a_smaller_tail,
        no_counts,
    ],
)
def test_no_number_can_be_changed_unnoticed(pool: Predictor, edit: Callable[[Content], None]) -> None:
    content = json.loads(json.dumps(pool.certificate.to_json()))
    edit(content)
    content["size_statement"] = size_statement(Certificate.from_json(content))
    assert not reissued(content).verify()


def many_members(content: Content) -> None:
    coverage, members = content["coverage"], 3
    size = content["members"][0]["n"]
    content["members"] = [
        {**content["members"][0], "member": place, "n": size, "weight": 1 / members} for place in range(members)
    ]
    coverage["sizes"], coverage["rank_weights"] = [size] * members, [1 / members] * members
    coverage["n"] = members * size
    for group in content["groups"]:
        group["blocks"] = [group["blocks"][0]] * members


def many_points(content: Content) -> None:
    coverage, sizes = content["coverage"], [10**9, 10**9]
    coverage["sizes"], coverage["n"] = sizes, sum(sizes)
    for member, size in zip(content["members"], sizes, strict=True):
        member["n"] = size
    for block in content["groups"][0]["blocks"]:
        block["n"] = 10**9 - 10**6
    content["groups"][0]["n"] = 2 * (10**9 - 10**6)


@pytest.mark.parametrize(("edit", "name"), [(many_members, "members"), (many_points, "number of points")])
def test_a_stranger_s_certificate_that_takes_long_is_refused_before_its_laws_are_computed(
    pool: Predictor, monkeypatch: pytest.MonkeyPatch, edit: Callable[[Content], None], name: str
) -> None:
    content = json.loads(json.dumps(pool.certificate.to_json()))
    edit(content)

    def computed(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("certiset.core.certificate.guarantees.pool_by_group.pool_group_shares", computed)
    failed = [check.name for check in reissued(content).verify().checks if not check.ok]
    assert name in failed
