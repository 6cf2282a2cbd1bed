"""Outcomes are judged by the sets that were served, and counted once, all or none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.bounds import Supermartingale
from certiset.core.errors import ConflictError, DatabaseBusyError, DataError, NotFoundError
from certiset.core.fit import Predictor, fit
from certiset.core.jobs import outcomes
from certiset.core.jobs.monitoring import monitor_of
from certiset.core.jobs.outcomes import IssuedPrediction, Outcome, correct_outcome, count_outcomes
from certiset.core.jobs.serving import change_serving
from certiset.core.sets import Intervals, LabelSets
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.audit import AuditFilter
from certiset.core.store.outcomes import Outcomes
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.databases import new_store
from tests.service.server import certified_in_the_mean, enter_predictor

ETA = 0.01


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), *class_data(300, 0), **QUICK)


@pytest.fixture
def store(tmp_path: Path, predictor: Predictor) -> Iterator[Store]:
    opened = new_store(Settings(home=tmp_path))
    for one in (predictor, certified_in_the_mean(predictor)):
        enter_predictor(opened, one)
    yield opened
    opened.close()


def issued(predictor: Predictor, number: str, *, replayed: bool = False, case: str | None = None) -> IssuedPrediction:
    """A set that holds the labels 0 and 2 of three."""
    sets = LabelSets(np.array([[True, False, True]]))
    return IssuedPrediction(predictor.certificate.predictor_id, 0, number, sets, replayed, case)


def outcome(
    predictor: Predictor, number: str, y: Any, *, replayed: bool = False, case: str | None = None, **options: Any
) -> Outcome:
    return Outcome(issued(predictor, number, replayed=replayed, case=case), y, **options)


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
    ends = Intervals(np.array([0.0]), np.array([1.0]))
    served = IssuedPrediction(predictor.certificate.predictor_id, 0, "a", ends)
    with pytest.raises(DataError, match="y does not have the shape of the set"):
        count_outcomes(store, "ada", [Outcome(served, [1.0, 2.0])], ETA)
    interval = IssuedPrediction("pred-0", 0, "a", ends)
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


def test_a_case_counts_once_however_often_it_is_asked_and_reported(store: Store, predictor: Predictor) -> None:
    id = predictor.certificate.predictor_id
    for start in range(0, 200, 50):
        missed = [outcome(predictor, str(start + n), 1, case="a" * 16) for n in range(50)]
        answer, contradicted = count_outcomes(store, "ada", missed, ETA)
        assert (answer.counted, answer.repeated) == (int(start == 0), 50 - int(start == 0))
        assert contradicted == {id: False}
    monitor = monitor_of(store, "ada", id, ETA)
    assert (monitor.outcomes, monitor.misses, monitor.reported, monitor.status) == (1, 1, 200, "consistent")
    other, _ = count_outcomes(store, "ada", [outcome(predictor, "other", 0, case="b" * 16)], ETA)
    assert other.counted == 1
    again, _ = count_outcomes(store, "ada", [outcome(predictor, "other", 0, case="b" * 16)], ETA)
    assert (again.counted, again.repeated) == (0, 1)
    assert monitor_of(store, "ada", id, ETA).reported == 201, "the same prediction is one report"


def test_a_contradiction_that_rested_on_wrong_truths_is_reconsidered(store: Store, predictor: Predictor) -> None:
    """Whatever is corrected, the state is the one that the right outcomes would have led to."""
    id = predictor.certificate.predictor_id
    truths = [0, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1]
    given = [outcome(predictor, str(n), y) for n, y in enumerate(truths)]
    assert count_outcomes(store, "ada", given, ETA)[1] == {id: True}
    for number in (1, 4, 5, 6):
        state, _ = correct_outcome(store, "ada", issued(predictor, str(number)), ETA, 0)
        assert (state.covered, state.state) == (True, "counted")
    annulled, _ = correct_outcome(store, "ada", issued(predictor, "2"), ETA)
    assert (annulled.covered, annulled.state) == (None, "annulled")
    for number in (7, 8, 9, 10):
        _, contradicted = correct_outcome(store, "ada", issued(predictor, str(number)), ETA, 2)
    assert not contradicted
    monitor = monitor_of(store, "ada", id, ETA)
    right = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    meant = Supermartingale(monitor.promised_miscoverage).update_many(right)
    assert (monitor.outcomes, monitor.misses, monitor.status) == (11, 1, "consistent")
    assert monitor.contradicted_at is None
    assert (monitor.log_peak, monitor.log_capital) == pytest.approx((meant.log_peak, meant.log_capital))
    assert [point.outcomes for point in monitor.path] == list(range(1, 12))
    assert [point.misses for point in monitor.path] == np.cumsum(right).tolist()
    back, _ = correct_outcome(store, "ada", issued(predictor, "2"), ETA, 1)
    assert (back.covered, back.state) == (False, "counted"), "one that was annulled counts again, behind the others"
    assert [p.misses for p in monitor_of(store, "ada", id, ETA).path][-2:] == [1, 2]
    with store.reading() as work:
        entries = work.audit.list(AuditFilter(tenant="ada"), limit=1000).items
    actions = [(row.action, row.details) for row in entries if row.action in ("outcome.correct", "outcome.annul")]
    assert actions[0] == ("outcome.correct", {"prediction": "2", "was": "annulled", "is": "missed"})
    assert ("outcome.annul", {"prediction": "2", "was": "missed", "is": "annulled"}) in actions
    assert len(actions) == 10


def test_what_was_never_counted_cannot_be_corrected(store: Store, predictor: Predictor) -> None:
    given = [outcome(predictor, "a", 0, case="c" * 16), outcome(predictor, "b", 1, case="c" * 16)]
    count_outcomes(store, "ada", given, ETA)
    state, _ = correct_outcome(store, "ada", issued(predictor, "b"), ETA, 0)
    assert state.state == "repeated"
    with pytest.raises(NotFoundError):
        correct_outcome(store, "ada", issued(predictor, "unknown"), ETA, 0)
    with pytest.raises(ConflictError, match="replay"):
        correct_outcome(store, "ada", issued(predictor, "a", replayed=True), ETA, 0)
    with pytest.raises(DataError):
        correct_outcome(store, "ada", issued(predictor, "a"), ETA, 7)
    with pytest.raises(NotFoundError):
        correct_outcome(store, "eve", issued(predictor, "a"), ETA, 0)


def test_sizes_are_watched_against_what_was_certified_and_eta_is_shared(store: Store, predictor: Predictor) -> None:
    id, promised = predictor.certificate.predictor_id, predictor.certificate.efficiency.upper_bound
    assert promised is not None
    before = monitor_of(store, "ada", id, ETA)
    assert (before.eta, before.eta_coverage, before.size and before.size.eta) == (ETA, ETA / 2, ETA / 2)
    assert before.log_threshold == pytest.approx(np.log(2 / ETA))
    everything = LabelSets(np.array([[True, True, True]]))
    given = [Outcome(IssuedPrediction(id, 0, f"s{n}", everything), 0) for n in range(200)]
    assert count_outcomes(store, "ada", given, ETA)[1] == {id: True}
    monitor = monitor_of(store, "ada", id, ETA)
    assert (monitor.status, monitor.contradicted_by, monitor.misses) == ("contradicted", ("size",), 0)
    assert monitor.size is not None
    assert (monitor.size.sets, monitor.size.promised) == (200, promised)
    assert monitor.size.mean == pytest.approx(min(3, monitor.size.cap))
    for n in range(200):
        correct_outcome(store, "ada", issued(predictor, f"s{n}"), ETA)
    assert monitor_of(store, "ada", id, ETA).status == "consistent"


def test_few_reports_are_said_beside_the_verdict(store: Store, predictor: Predictor) -> None:
    id = predictor.certificate.predictor_id
    assert monitor_of(store, "ada", id, ETA).share is None
    count_outcomes(store, "ada", [outcome(predictor, str(n), 0) for n in range(4)], ETA)
    for issued_sets, share, caveats in ((8, 0.5, 0), (8, 0.25, 1)):
        with store.writing() as work:
            work.outcomes.count_issued("ada", id, issued_sets)
        monitor = monitor_of(store, "ada", id, ETA)
        assert (monitor.reported, monitor.share, len(monitor.caveats)) == (4, share, caveats)
    assert monitor.caveats[0].startswith("Only 25 % of the sets")
