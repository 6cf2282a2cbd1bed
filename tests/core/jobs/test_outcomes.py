"""Outcomes are judged by the sets that were served, and counted once, all or none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.errors import ConflictError, DatabaseBusyError, DataError, NotFoundError
from certiset.core.fit import Predictor, fit
from certiset.core.jobs import outcomes
from certiset.core.jobs.monitoring import monitor_of
from certiset.core.jobs.outcomes import IssuedPrediction, Outcome, count_outcomes
from certiset.core.jobs.serving import change_serving
from certiset.core.sets import Intervals, LabelSets
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.outcomes import Outcomes
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.service.server import certified_in_the_mean, enter_predictor

ETA = 0.01


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), *class_data(300, 0), **QUICK)


@pytest.fixture
def store(tmp_path: Path, predictor: Predictor) -> Iterator[Store]:
    opened = Store.ready(Settings(home=tmp_path))
    for one in (predictor, certified_in_the_mean(predictor)):
        enter_predictor(opened, one)
    yield opened
    opened.close()


def outcome(predictor: Predictor, number: str, y: Any, *, replayed: bool = False, **options: Any) -> Outcome:
    """Of a set that holds the labels 0 and 2 of three."""
    sets = LabelSets(np.array([[True, False, True]]))
    issued = IssuedPrediction(predictor.certificate.predictor_id, 0, number, sets, replayed)
    return Outcome(issued, y, **options)


def test_each_counts_once_and_replays_never(store: Store, predictor: Predictor) -> None:
    given = [outcome(predictor, "a", 0), outcome(predictor, "b", 1), outcome(predictor, "c", 1, replayed=True)]
    first, contradicted = count_outcomes(store, "ada", given, ETA)
    assert first.covered == (True, False, False)
    assert (first.counted, first.repeated, first.replayed) == (2, 0, 1)
    assert contradicted == {predictor.certificate.predictor_id: False}
    again, _ = count_outcomes(store, "ada", [*given, outcome(predictor, "d", 2), outcome(predictor, "d", 2)], ETA)
    assert (again.counted, again.repeated, again.replayed) == (1, 3, 1)
    monitor = monitor_of(store, "ada", predictor.certificate.predictor_id, ETA)
    assert (monitor.outcomes, monitor.misses, monitor.status) == (3, 1, "consistent")
    assert monitor.promised_miscoverage == predictor.certificate.coverage.alpha


def test_misses_contradict_in_the_end(store: Store, predictor: Predictor) -> None:
    missed = [outcome(predictor, str(number), 1) for number in range(50)]
    id = predictor.certificate.predictor_id
    assert count_outcomes(store, "ada", missed, ETA)[1] == {id: True}
    assert monitor_of(store, "ada", id, ETA).status == "contradicted"
    assert change_serving(store, "ada", id, "best")[1]


def test_one_invalid_outcome_and_nothing_is_counted(store: Store, predictor: Predictor) -> None:
    for y in (3, 0.5, [0, 1]):
        wrong = outcome(predictor, "b", y, field="outcomes.1.y")
        with pytest.raises(DataError) as refused:
            count_outcomes(store, "ada", [outcome(predictor, "a", 0), wrong], ETA)
        assert refused.value.field == "outcomes.1.y"
    interval = IssuedPrediction("pred-0", 0, "a", Intervals(np.array([0.0]), np.array([1.0])))
    with pytest.raises(DataError, match="y does not have the shape of the set"):
        count_outcomes(store, "ada", [Outcome(interval, [1.0, 2.0])], ETA)
    with pytest.raises(NotFoundError):
        count_outcomes(store, "ada", [Outcome(interval, 1.0)], ETA)
    with pytest.raises(NotFoundError):
        count_outcomes(store, "eve", [outcome(predictor, "a", 0)], ETA)
    assert monitor_of(store, "ada", predictor.certificate.predictor_id, ETA).outcomes == 0


def test_a_busy_database_is_asked_again(store: Store, predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "_FIRST_PAUSE", 0.0)
    left = [DatabaseBusyError("busy")] * 4
    real = Outcomes.add

    def add(self: Outcomes, *arguments: Any, **options: Any) -> Any:
        if left:
            raise left.pop()
        return real(self, *arguments, **options)

    monkeypatch.setattr(Outcomes, "add", add)
    assert count_outcomes(store, "ada", [outcome(predictor, "a", 0)], ETA)[0].counted == 1
    left += [DatabaseBusyError("busy")] * 5
    with pytest.raises(DatabaseBusyError):
        count_outcomes(store, "ada", [outcome(predictor, "b", 0)], ETA)


def test_one_member_alone_is_served_only_where_it_is_promised_something(store: Store, predictor: Predictor) -> None:
    record, contradicted = change_serving(store, "ada", predictor.certificate.predictor_id, "best")
    assert (record.serve, contradicted) == ("best", False)
    mean = certified_in_the_mean(predictor).certificate
    with pytest.raises(ConflictError, match="mean over all members"):
        change_serving(store, "ada", mean.predictor_id, "best")
    assert change_serving(store, "ada", mean.predictor_id, "random")[0].serve == "random"
    assert monitor_of(store, "ada", mean.predictor_id, ETA).promised_miscoverage == 0.12
    with pytest.raises(NotFoundError):
        change_serving(store, "eve", predictor.certificate.predictor_id, "random")
