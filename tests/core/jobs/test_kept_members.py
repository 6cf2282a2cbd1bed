"""Where a pool is served, a new block replaces its oldest member, until a contradiction or a change by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.data.frame import Frame
from certiset.core.data.stored_rows import map_dataset
from certiset.core.fit import Predictor, fit
from certiset.core.store import Store
from certiset.core.store.records import Calibration
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.core.jobs.deployment_world import World, calibrated_world, succeed

ROWS = 120
BEFORE = 600
OPTIONS: dict[str, Any] = {**QUICK, "method": "progressive", "alpha": 0.1, "delta": 0.05}


@pytest.fixture(scope="module", name="pool")
def pool_() -> Predictor:
    return fit(class_model(), *class_data(BEFORE, 0), **OPTIONS)


@pytest.fixture(name="world")
def world_(store: Store, pool: Predictor, tmp_path: Path) -> World:
    file = tmp_path / "calibration.npz"
    x, y = class_data(BEFORE, 0)
    np.savez(file, x=x, y=y)
    return calibrated_world(store, file, pool, OPTIONS)


def _fitted(world: World, job: Calibration) -> tuple[Predictor, Any, Any]:
    """What a worker fits, and the rows that it has."""
    with world.store.reading() as work:
        dataset = work.datasets.get("ada", job.dataset_id)
    with world.store.local_file(dataset.artifact) as file:
        data = map_dataset(file)
        x, y = np.array(data.x), np.array(data.truths)
        further = {name: np.array(column) for name, column in data.further.items()}
    return fit(class_model(), Frame(x, None, further), y, **job.options), x, y


def _block(world: World, place: int) -> tuple[Calibration, Predictor]:
    """A block is reported, and its pool fitted and served."""
    world.report(world.asked(ROWS, place=place))
    world.advance()
    job = world.jobs[-1]
    predictor, x, y = _fitted(world, job)
    world.predictors.append(predictor)
    coverage, members = predictor.certificate.coverage, predictor.certificate.members
    before = len(y) - ROWS
    assert (coverage.guarantee, coverage.sizes, coverage.rank_weights) == ("pool", [ROWS, ROWS], [0.5, 0.5])
    assert [member.tuned_on for member in members] == [before - ROWS, before]
    # Each is calibrated on its own block alone: as many of its rows are missed as its rank says.
    for member, rows in enumerate((slice(before - ROWS, before), slice(before, None))):
        covered = predictor.predict_set(x[rows], member=member).contains(y[rows])
        assert int((~covered).sum()) == members[member].k - 1
    succeed(world, job, predictor)
    world.advance()
    assert world.now.predictor == predictor.certificate.predictor_id
    return job, predictor


def test_a_new_block_replaces_the_oldest_member_until_a_contradiction(world: World) -> None:
    world.set(every={"rows": ROWS}, on_contradiction=True)
    first, predictor = _block(world, 0)
    with world.store.reading() as work:
        assert work.datasets.get("ada", first.dataset_id).rows == BEFORE + ROWS
        issued = work.certificates.get("ada", work.predictors.get("ada", world.id(1)).certificate_id)
    assert f"the last of the {BEFORE} rows before them" in issued.document
    second, _ = _block(world, 1)
    with world.store.reading() as work:
        assert work.datasets.get("ada", second.dataset_id).rows == BEFORE + 2 * ROWS
    assert world.now.delta_all == pytest.approx(3 * 0.05)
    missed = [replace(outcome, y=(outcome.y + 1) % 3) for outcome in world.asked(60, place=2)]
    world.report(missed)
    assert world.kinds[-1] == "contradicted"
    # The block that was dropped, and one more for the pool that has ended.
    assert world.now.delta_all == pytest.approx(5 * 0.05)
    world.report(world.asked(ROWS, place=2))
    world.advance()
    third = world.jobs[-1]
    with world.store.reading() as work:
        assert work.datasets.get("ada", third.dataset_id).rows == ROWS
    assert third.options.get("order") is None
    # Set again by hand, its next block stands alone, too.
    world.set(place=2, every={"rows": ROWS + 1}, on_contradiction=True)
    world.report(world.asked(ROWS + 1, place=2))
    world.advance()
    with world.store.reading() as work:
        assert work.datasets.get("ada", world.jobs[-1].dataset_id).rows == ROWS + 1
    assert predictor.members == 2


def test_the_next_block_waits_for_the_pool_that_it_goes_on_from(world: World) -> None:
    world.set(every={"rows": ROWS}, on_contradiction=True)
    world.report(world.asked(2 * ROWS))
    world.advance()
    assert len(world.jobs) == 1
    world.fail(world.jobs[0])
    world.advance()
    world.advance()
    # A pool whose fit failed has ended: by what its rows hold, perhaps.
    with world.store.reading() as work:
        assert [work.datasets.get("ada", job.dataset_id).rows for job in world.jobs] == [BEFORE + ROWS, ROWS]


@pytest.mark.parametrize("rule", [{"every": {"rows": ROWS}}, {"every": {"rows": 60}, "on_contradiction": True}])
def test_without_a_contradiction_that_ends_it_or_with_few_rows_no_member_is_kept(
    world: World, rule: dict[str, Any]
) -> None:
    world.set(**rule)
    world.report(world.asked(rule["every"]["rows"]))
    world.advance()
    with world.store.reading() as work:
        assert work.datasets.get("ada", world.jobs[0].dataset_id).rows == rule["every"]["rows"]


def test_after_a_contradiction_a_block_too_small_for_a_pool_has_one_member_and_the_next_goes_on(world: World) -> None:
    rows = 160
    world.set(every={"rows": rows}, on_contradiction=True)
    world.report([replace(outcome, y=(outcome.y + 1) % 3) for outcome in world.asked(60)])
    assert world.kinds[-1] == "contradicted"
    for sizes in ([rows], [(2 * rows - 100) // 2] * 2):
        place = len(world.predictors) - 1
        world.report(world.asked(rows, place=place))
        world.advance()
        predictor, _, y = _fitted(world, world.jobs[-1])
        assert (predictor.certificate.coverage.sizes or [len(y)]) == sizes
        world.predictors.append(predictor)
        succeed(world, world.jobs[-1], predictor)
        world.advance()
        assert world.now.predictor == predictor.certificate.predictor_id
