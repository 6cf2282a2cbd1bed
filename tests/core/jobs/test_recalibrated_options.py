"""What the first calibration asked for beside its rows: carried along to the next predictors, or refused at once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certiset.core.data.frame import Frame, TextColumn
from certiset.core.data.stored_rows import map_dataset
from certiset.core.errors import ConflictError, OptionError
from certiset.core.fit import Predictor, fit
from certiset.core.jobs.outcomes import Outcome
from certiset.core.jobs.recalibration import account_for
from certiset.core.store import Store
from certiset.core.store.records import Calibration
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.core.jobs.deployment_world import World, calibrated_world, succeed

ROWS = 240
OPTIONS: dict[str, Any] = {**QUICK, "method": "standard", "alpha": 0.2, "delta": 0.05}
REGIONS = np.array(["north", "south", "elsewhere"])


def columns(rows: int) -> dict[str, NDArray[Any]]:
    """Of which elsewhere is not listed where a list is given."""
    place = np.arange(rows)
    return {
        "region": REGIONS[place % 3],
        "year": 2024 + place // 3 % 2,
        "when": place[::-1].astype(float),
        "patient": place // 2,
        "b": np.full(rows, 0.5),
    }


def frame(x: NDArray[Any], further: dict[str, NDArray[Any]]) -> Frame:
    texts = {name: TextColumn.of(cells.tolist()) for name, cells in further.items() if cells.dtype.kind == "U"}
    return Frame(x, None, {**further, **texts})


@pytest.fixture(name="tmp")
def tmp_(tmp_path: Path) -> Path:
    return tmp_path


def enter(store: Store, tmp: Path, **options: Any) -> World:
    """A world whose first predictor was calibrated with these options, on a data set with these columns."""
    x, y = class_data(2 * ROWS, 0)
    further, asked = columns(len(y)), {**OPTIONS, **options}
    predictor = fit(class_model(), frame(x, further), y, **asked)
    file = tmp / "calibration.npz"
    np.savez(file, x=x, y=y, **further)  # type: ignore[arg-type]
    return calibrated_world(store, file, predictor, asked)


def refitted(world: World, job: Calibration) -> tuple[Predictor, dict[str, Any]]:
    """What a worker fits on the block, and the columns that it has beside inputs and truths."""
    with world.store.reading() as work:
        dataset = work.datasets.get("ada", job.dataset_id)
    with world.store.local_file(dataset.artifact) as file:
        data = map_dataset(file)
        further = dict(data.further)
        made = fit(class_model(), Frame(np.array(data.x), None, further), np.array(data.truths), **job.options)
    return made, further


def in_group(outcomes: list[Outcome], places: NDArray[np.int64]) -> list[Outcome]:
    """As ids say it: the place of each input's group among the thresholds."""
    return [
        replace(one, prediction=replace(one.prediction, group=int(place)))
        for one, place in zip(outcomes, places, strict=True)
    ]


def recalibrated(world: World, outcomes: list[Outcome]) -> tuple[Predictor, dict[str, Any], Calibration]:
    assert world.report(outcomes) == len(outcomes)
    world.advance()
    job = world.jobs[-1]
    predictor, further = refitted(world, job)
    world.predictors.append(predictor)
    succeed(world, job, predictor)
    world.advance()
    assert world.now.predictor == predictor.certificate.predictor_id
    return predictor, further, job


def cells(column: Any) -> list[str]:
    assert isinstance(column, TextColumn)
    return [column.values[code] for code in column.codes.tolist()]


@pytest.mark.parametrize("unknown", ["whole", "other"])
def test_the_group_of_an_outcome_is_that_of_its_question_and_calibrates_it(
    store: Store, tmp: Path, unknown: str
) -> None:
    # The order of the list is that of the thresholds, whatever the alphabet says.
    world = enter(store, tmp, groups="region", group_list=["south", "north"], unknown_groups=unknown)
    world.set(every={"rows": ROWS})
    places = np.array([0, 0, 1, 2])[np.arange(ROWS) % 4]
    for generation in range(2):
        outcomes = in_group(world.asked(ROWS, place=generation), places)
        predictor, further, job = recalibrated(world, outcomes)
        assert job.options["group_list"] == ["south", "north"]
        names = cells(further["region"])
        assert [["south", "north", "not listed"][place] for place in places] == names
        groups = predictor.certificate.groups
        assert groups is not None
        assert [group.n for group in groups] == [ROWS // 2, ROWS // 4, ROWS // 4][: len(groups)]
        assert len(groups) == (3 if unknown == "other" else 2)
        assert [group.name for group in groups[:2]] == [["south"], ["north"]]
        assert all(group.tau is not None for group in groups)


def test_groups_that_cross_and_look_like_others_keep_their_names(store: Store, tmp: Path) -> None:
    listed = [["north", "2024"], ["not listed", "2025"]]
    world = enter(store, tmp, groups=["region", "year"], group_list=listed)
    world.set(every={"rows": ROWS})
    places = np.arange(ROWS) % 3
    predictor, further, _ = recalibrated(world, in_group(world.asked(ROWS), places))
    assert set(further) == {"region", "year"}
    assert cells(further["region"])[:3] == ["north", "not listed", "not listed'"]
    assert predictor.certificate.groups is not None
    assert [group.n for group in predictor.certificate.groups] == [ROWS // 3, ROWS // 3]


def test_classes_need_nothing_but_the_truth(store: Store, tmp: Path) -> None:
    world = enter(store, tmp, groups="class")
    world.set(every={"rows": ROWS})
    predictor, further, _ = recalibrated(world, world.asked(ROWS))
    assert not further
    assert predictor.certificate.groups is not None
    assert sum(group.n for group in predictor.certificate.groups) == ROWS


def test_an_order_is_that_of_the_reports(store: Store, tmp: Path) -> None:
    world = enter(store, tmp, method="learned", order="when")
    world.set(every={"rows": ROWS})
    _, further, job = recalibrated(world, world.asked(ROWS))
    assert job.options["order"] == "reported"
    assert np.array_equal(further["reported"], np.arange(ROWS))
    with store.reading() as work:
        account = account_for(work, job)
    assert account is not None
    assert account.kept is None


@pytest.mark.parametrize(
    "shifted", [{"weights": "b", "weight_bound": 1.0}, {"prevalences": [0.4, 0.3, 0.3]}], ids=["weights", "prevalences"]
)
def test_another_population_is_the_one_that_is_served_if_somebody_says_so(
    store: Store, tmp: Path, shifted: dict[str, Any]
) -> None:
    world = enter(store, tmp, **shifted)
    with pytest.raises(ConflictError, match=r"recalibrate\.population: served") as refused:
        world.set(every={"rows": ROWS})
    assert refused.value.field == "recalibrate.population"
    world.set(every={"rows": ROWS}, population="served")
    assert world.now.recalibrate is not None
    assert world.now.recalibrate.population == "served"
    predictor, further, job = recalibrated(world, world.asked(ROWS))
    assert (job.options["weights"], job.options["weight_bound"], job.options["prevalences"]) == (None, None, None)
    assert not further
    assert predictor.certificate.shift is None
    assert predictor.certificate.coverage.n == ROWS


def test_clusters_and_groups_without_a_column_of_their_own_are_refused(store: Store, tmp: Path) -> None:
    world = enter(store, tmp, clusters="patient")
    with pytest.raises(ConflictError, match="no such draw"):
        world.set(every={"rows": ROWS})


def test_a_name_does_not_come_to_ask_for_groups_or_levels(store: Store, tmp: Path) -> None:
    world = enter(store, tmp)
    world.set(every={"rows": ROWS})
    for options, what in (({"groups": "region"}, "name groups"), ({"alpha": "all"}, "name alpha")):
        other = enter(store, tmp, **options)
        with pytest.raises(ConflictError, match=what):
            other.set(every={"rows": ROWS})


def test_a_pool_with_groups_goes_on_with_blocks_that_are_too_small_for_one(store: Store, tmp: Path) -> None:
    world = enter(store, tmp, groups="region", method="progressive")
    assert world.predictors[0].members == 2
    world.set(every={"rows": ROWS})
    for generation in range(2):
        outcomes = in_group(world.asked(ROWS, place=generation), np.arange(ROWS) % 3)
        predictor, _, job = recalibrated(world, outcomes)
        assert (job.options["method"], predictor.members) == ("auto", 1)
        assert all(group.tau is not None for group in predictor.certificate.groups or [])


def test_rows_that_tune_do_not_count_among_those_that_a_block_needs(store: Store, tmp: Path) -> None:
    world = enter(store, tmp, method="learned")
    with pytest.raises(OptionError, match="25 rows leave n = 13 to calibrate, and n = 13 is too few"):
        world.set(every={"rows": 25})
    world.set(every={"rows": 28})
