"""Calibrations and predictors in one list: every row once, whatever the order, however short the pages."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event

from certiset.core.errors import OptionError
from certiset.core.jobs import deletion, naming
from certiset.core.store import Store
from certiset.core.store.monitors import Levels
from certiset.core.store.outcomes import Reported
from certiset.core.store.overview import SORTS, Listed, Wanted
from tests.core.store.records import a_calibration, a_fit_result

LEVELS = Levels(0.1, 0.05, None)


def document(n: int, size: float, certified: float | None) -> str:
    return json.dumps(
        {
            "coverage": {"guarantee": "per_draw", "delta": 0.05, "n": n},
            "efficiency": {"empirical": size, "upper_bound": certified, "measure": "labels"},
            "provenance": {"method": "learned"},
        }
    )


def served(store: Store, name: str, **numbers: Any) -> str:
    calibration = a_calibration(store, name=f"fit {name}")
    with store.writing() as work:
        claim = work.leases.claim(calibration.id)
        assert claim is not None
        stated = document(**{"n": 100, "size": 1.5, "certified": 2.0, **numbers})
        assert work.leases.succeed(claim, replace(a_fit_result(name), document=stated))
    return f"pred-{name}"


@pytest.fixture
def filled(store: Store) -> Store:
    served(store, "b", n=300, size=2.0, certified=None)
    served(store, "a", n=100, size=3.0)
    a_calibration(store, name="fit waiting")
    served(store, "c", n=200, size=1.0, certified=1.5)
    return store


def name_of(row: Listed) -> str:
    found = row.summary or row.calibration
    assert found is not None
    return found.name.removeprefix("fit ")


def names(store: Store, sort: str = "newest", limit: int = 50, **wanted: Any) -> list[str]:
    found, cursor = [], None
    while True:
        with store.reading() as work:
            page = work.overview.list("ada", Wanted(**wanted), sort, limit=limit, cursor=cursor)
            found += [name_of(row) for row in page.items]
        assert len(page.items) <= limit
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_rows_come_in_the_order_asked_for_and_those_without_the_number_last(filled: Store) -> None:
    assert names(filled) == ["c", "waiting", "a", "b"]
    assert names(filled, "oldest") == ["b", "a", "waiting", "c"]
    assert names(filled, "name") == ["a", "b", "c", "waiting"]
    assert names(filled, "-n") == ["b", "c", "a", "waiting"]
    assert names(filled, "size") == ["c", "b", "a", "waiting"]
    assert names(filled, "certified_size") == ["c", "a", "b", "waiting"]


def test_short_pages_have_every_row_once_in_the_same_order(filled: Store) -> None:
    served(filled, "d", n=200, size=1.0)
    for sort in SORTS:
        whole = names(filled, sort)
        assert sorted(whole) == ["a", "b", "c", "d", "waiting"]
        for limit in (1, 2, 3):
            assert names(filled, sort, limit) == whole, sort


def test_it_is_searched_by_names_and_ids_and_filtered_by_status(filled: Store) -> None:
    assert names(filled, search="WAIT") == ["waiting"]
    assert names(filled, search="pred-a") == ["a"]
    assert names(filled, search="%") == []
    assert names(filled, search="model") == ["c", "waiting", "a", "b"]
    assert names(filled, status="queued") == ["waiting"]
    assert names(filled, status="consistent") == ["c", "a", "b"]
    assert names(filled, only_predictors=True) == ["c", "a", "b"]
    with filled.writing() as work:
        misses = [Reported(str(number), missed=True) for number in range(20)]
        work.outcomes.add("ada", "pred-a", misses, LEVELS)
    assert names(filled, status="contradicted") == ["a"]


def test_a_new_name_and_a_deletion_show_in_the_list(filled: Store) -> None:
    naming.rename_predictor(filled, "ada", "pred-a", "zebra")
    assert names(filled, "name") == ["b", "c", "zebra", "waiting"]
    with filled.reading() as work:
        summary = work.overview.list("ada", Wanted(search="zebra")).items[0].summary
    assert summary is not None
    naming.rename_dataset(filled, "ada", summary.dataset_id, "stripes")
    naming.rename_model(filled, "ada", summary.model_id, "horse")
    assert names(filled, search="stripes") == names(filled, search="horse") == ["zebra"]
    deletion.delete_predictor(filled, "ada", "pred-a")
    assert names(filled, "name") == ["b", "c", "waiting"]
    with pytest.raises(OptionError, match="at least one letter"):
        naming.rename_dataset(filled, "ada", summary.dataset_id, " \t ")


def test_others_see_nothing_of_it(filled: Store) -> None:
    with filled.reading() as work:
        assert work.overview.list("eve", Wanted()).items == []


def test_a_made_up_cursor_is_refused(filled: Store) -> None:
    for cursor in ("x", "W10", "eyJhIjogMX0", "WzAsICJ4IiwgImNhbC0xIl0", "WzFlOTk5LCAxLCAxXQ"):
        with filled.reading() as work, pytest.raises(OptionError, match="cursor") as refused:
            work.overview.list("ada", Wanted(), "n", cursor=cursor)
        assert refused.value.field == "cursor"


def test_a_page_asks_the_database_the_same_few_times_however_many_rows_there_are(store: Store) -> None:
    asked: list[str] = []
    event.listen(store.database.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    counts: list[int] = []
    for more in (3, 30):
        for _ in range(more):
            served(store, f"{len(counts)}x{_}")
        asked.clear()
        with store.reading() as work:
            work.overview.list("ada", Wanted(), "size", limit=2)
        counts.append(len(asked))
    assert counts[0] >= counts[1]


def test_no_page_sorts_more_than_it_shows(store: Store) -> None:
    """A sort that no index has would take longer the more predictors there are."""
    if store.database.engine.dialect.name != "sqlite":
        pytest.skip("the plan of a query is read as SQLite tells it")
    asked: list[tuple[str, Any]] = []
    event.listen(store.database.engine, "before_cursor_execute", lambda *given: asked.append((str(given[2]), given[3])))
    with store.reading() as work:
        for sort in SORTS:
            work.overview.list("ada", Wanted(), sort)
    listed = [one for one in asked if "ORDER BY" in one[0]]
    with store.database.engine.connect() as connection:
        for query, values in listed:
            plan = connection.exec_driver_sql(f"explain query plan {query}", values).fetchall()
            assert not any("TEMP B-TREE" in str(step) for step in plan), (query, plan)
    assert len(listed) >= 3 * len(SORTS) - 4
