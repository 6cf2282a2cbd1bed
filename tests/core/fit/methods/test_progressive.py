"""A pool that learns as it goes: each member is tuned on all rows before its block, and calibrated on that alone."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from certiset.core.bounds import TooFewPointsError, progressive_ranks
from certiset.core.data.arrays import check_data
from certiset.core.fit import Predictor, fit
from certiset.core.fit.audit import audit
from certiset.core.fit.fitting import check
from certiset.core.fit.splitting import split
from tests.core.fit.problems import (
    class_data,
    class_model,
    toy_data,
    toy_model,
    untrained,
    untrained_model,
)

QUICK: dict[str, Any] = {"method": "progressive", "prior": {"steps": 20}}


@pytest.fixture(scope="module")
def pool() -> Predictor:
    return fit(untrained_model(), *untrained(601, 0), **QUICK)


def test_blocks_ranks_and_weights_are_those_of_the_theorem(pool: Predictor) -> None:
    certificate = pool.certificate
    coverage = certificate.coverage
    assert certificate.provenance.n_tune == 300
    assert coverage.sizes == [151, 150]
    assert coverage.ranks == list(progressive_ranks([151, 150], 0.1, 0.05, [151 / 301, 150 / 301]))
    assert [member.k for member in certificate.members] == coverage.ranks
    assert [member.weight for member in certificate.members] == [151 / 301, 150 / 301]
    assert pool.chances.tolist() == [151 / 301, 150 / 301]
    assert [member.tuned_on for member in certificate.members] == [300, 451]
    assert (coverage.guarantee, coverage.bound) == ("pool", "progressive")
    assert coverage.tail is not None
    assert coverage.tail <= 0.05
    assert not torch.equal(pool.theta[0], pool.theta[1])
    assert [check for check in certificate.verify().checks if not check.ok] == []


def test_what_was_compared_on_d_0_stands_on_the_certificate(pool: Predictor) -> None:
    selection = pool.certificate.selection
    assert selection is not None
    assert selection.revealed == 300
    assert [compared.name for compared in selection.compared] == [
        f"head, pull {pull:g}" for pull in (1e-4, 1e-2, 1e-1, 1.0)
    ]
    assert selection.taken == min(selection.compared, key=lambda compared: compared.size).name
    assert selection.reason == (
        f"Of 4 candidates that were compared on the 300 rows that tune the first member, {selection.taken} gave the "
        "smallest sets, and so every member is tuned that way."
    )


def test_a_member_learns_from_every_row_before_its_block_and_from_no_other(pool: Predictor) -> None:
    x, y = untrained(601, 0)
    places = split(0, 300, check_data(untrained_model(), x, y, allow_missing_classes=False)).calibration.numpy()

    def with_other_truths(rows: Any) -> Predictor:
        other = y.copy()
        other[rows] = (other[rows] + 1) % 4
        return fit(untrained_model(), x, other, **QUICK)

    first, last = with_other_truths(places[:151]), with_other_truths(places[151:])
    tau = [[member.tau for member in predictor.certificate.members] for predictor in (pool, first, last)]
    assert torch.equal(first.theta[0], pool.theta[0])
    assert tau[1][0] != tau[0][0], "its own block calibrates it"
    assert not torch.equal(first.theta[1], pool.theta[1])
    assert torch.equal(last.theta, pool.theta)
    assert tau[2][0] == tau[0][0]
    assert tau[2][1] != tau[0][1]


@pytest.mark.parametrize("split_at", [0.3, 0.6])
@pytest.mark.parametrize("score", ["scaled_residual", "residual"])
def test_it_tunes_scales_and_heads_of_regressions(score: str, split_at: float) -> None:
    options = QUICK | {"prior": {"steps": 20, "split": split_at}}
    predictor = fit(toy_model(), *toy_data(700, 0), score=score, **options)
    certificate = predictor.certificate
    assert certificate.provenance.n_tune == int(split_at * 700)
    assert predictor.members == 2
    assert [check for check in certificate.verify().checks if not check.ok] == []
    assert certificate.efficiency.bound == ("exact" if score == "residual" else "grid_betting")
    x, y = toy_data(4000, 1)
    assert predictor.predict_set(x, generator=np.random.default_rng(0)).contains(y).mean() > 0.885


@pytest.mark.parametrize("method", ["progressive", "auto"])
@pytest.mark.parametrize(
    "roles", [{}, {"clusters": "patient"}, {"order": "time"}, {"clusters": "patient", "order": "time"}]
)
def test_an_auditor_finds_every_number_again(method: Any, roles: dict[str, Any], tmp_path: Path) -> None:
    """With rows, patients of two rows each, and times."""
    x, y = untrained(1300, 3)
    columns: dict[str, Any] = {f"x{place}": x[:, place] for place in range(20)}
    if "clusters" in roles:
        columns["patient"] = np.arange(1300) // 2
    if "order" in roles:
        columns["time"] = np.random.default_rng(0).permutation(1300) // 4
    data = pa.table(columns)
    predictor = fit(untrained_model(), data, y, method=method, prior={"steps": 20}, **roles)
    certificate = predictor.certificate
    assert predictor.members == 2 or method == "auto"
    assert [check for check in certificate.verify().checks if not check.ok] == []
    units = 650 if "clusters" in roles else 1300
    assert certificate.provenance.n_tune + certificate.coverage.n == units
    predictor.save(tmp_path)
    description = json.loads((tmp_path / "predictor.json").read_text())
    file = tmp_path / "predictor.safetensors"
    checks = audit(certificate, predictor.scorer.model, data, y, file, description)
    assert [check for check in checks if not check.ok] == []
    expected = {f"threshold of member {member}" for member in range(predictor.members)} | {"mean size"}
    assert expected <= {check.name for check in checks}
    other = audit(certificate, predictor.scorer.model, data, np.roll(y, 1), file, description)
    assert {"data's SHA-256", "threshold of member 0"} <= {check.name for check in other if not check.ok}


def test_with_times_later_blocks_are_later() -> None:
    x, y = untrained(600, 0)
    time = np.random.default_rng(1).permutation(600)
    data, plan = check(untrained_model(), x, y, order=time, **QUICK)
    places = split(0, plan.n_tune, data)
    assert places.tuning is not None
    assert time[places.tuning.numpy()].max() < time[places.calibration.numpy()].min()
    first, last = torch.split(places.calibration, list(plan.blocks))
    assert time[first.numpy()].max() < time[last.numpy()].min()


@pytest.mark.parametrize("prior", [{}, {"split": 0.2}, {"split": 0.8}], ids=str)
def test_too_few_rows_for_two_blocks_are_refused_with_a_number_that_is_enough(prior: dict[str, Any]) -> None:
    options = QUICK | {"prior": prior}
    with pytest.raises(TooFewPointsError, match=r"too few for two of 100: at least (\d+) rows are needed") as refused:
        check(class_model(), *class_data(210, 0), **options)
    enough = int(str(refused.value).split("at least ")[1].split(" ")[0])
    _, plan = check(class_model(), *class_data(enough, 0), **options)
    assert min(plan.blocks) >= 100


def test_a_d_0_of_one_row_is_refused() -> None:
    with pytest.raises(TooFewPointsError, match=r"leave 1 to tune the first member .* choose a larger prior\.split"):
        check(class_model(), *class_data(500, 0), method="progressive", prior={"split": 0.002})
    found = fit(class_model(), *class_data(500, 0), method="progressive", prior={"split": 0.004, "steps": 5})
    assert found.certificate.provenance.n_tune == 2


def test_a_promise_that_no_rank_of_two_blocks_keeps_is_refused() -> None:
    with pytest.raises(TooFewPointsError):
        check(class_model(), *class_data(400, 0), alpha=0.005, **QUICK)
