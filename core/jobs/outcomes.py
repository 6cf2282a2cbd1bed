"""Outcomes of served sets: judged by the set that each prediction carries, counted once, corrected where they must."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from certiset.core.class_names import codes_of
from certiset.core.errors import ConflictError, DatabaseBusyError, DataError, DuplicateError
from certiset.core.jobs.collecting import BroughtRow, collect, correct_row, note_contradiction
from certiset.core.jobs.watching import Watched, watched
from certiset.core.monitor_resources import OutcomesCounted, OutcomeState
from certiset.core.sets import PredictionSets
from certiset.core.store.outcomes import Reported
from certiset.core.store.records import OutcomeRecord
from certiset.core.store.store import Store, Transaction

_TRIES = 5
_FIRST_PAUSE = 0.02


@dataclass(frozen=True)
class Question:
    """What was asked under the name of a deployment that collects outcomes."""

    deployment: str
    """its token"""
    asked_at: float
    """in seconds since 1970, by the clock of the API"""
    digest: str
    """keyed hash of the input, in hex"""


@dataclass(frozen=True)
class IssuedPrediction:
    """What a prediction id says."""

    predictor: str
    member: int
    number: str
    """random, in hex: the prediction's name in the records"""
    set: PredictionSets
    """of one row"""
    replayed: bool = False
    """whether the member was asked for and not drawn: no evidence about what is served"""
    case: str | None = None
    """hash of the case, or of the input, under which its outcome counts once, in hex; None: every question counts"""
    group: int | None = None
    """the place of the input's group among those with a threshold, one beyond for any other; None without groups"""
    question: Question | None = None
    """None: its outcome is no row of any deployment's next predictor"""


@dataclass(frozen=True)
class Outcome:
    """A reported truth."""

    prediction: IssuedPrediction
    y: Any
    """a label or its name, a number or a list of numbers"""
    field: str = "y"
    """what the caller calls y"""
    x: bytes | None = None
    """the input again, as float64 numbers: proved to be the one that was asked"""


def count_outcomes(
    store: Store, tenant: str, outcomes: Sequence[Outcome], eta: float
) -> tuple[OutcomesCounted, dict[str, bool]]:
    """Counts all outcomes in one transaction, or, if one is invalid, none.

    Also says, for each predictor that was counted for, whether its certificate is contradicted now.
    The outcome of a replayed member is judged and not counted: whoever chose the member may have chosen the outcome.
    """
    with store.reading() as work:
        # Of all that are named: a predictor that was deleted takes no outcomes, whether they count or not.
        named = {outcome.prediction.predictor for outcome in outcomes}
        watching = {id: watched(work, tenant, id) for id in named}
    outcomes = [_numbered(outcome, watching[outcome.prediction.predictor]) for outcome in outcomes]
    covered = tuple(_covered(outcome) for outcome in outcomes)
    reported: dict[str, list[Reported]] = {}
    for outcome, inside in zip(outcomes, covered, strict=True):
        if not outcome.prediction.replayed:
            id = outcome.prediction.predictor
            reported.setdefault(id, []).append(_reported(outcome, not inside, watching[id]))
    bringing = {one.prediction.number: one for one in outcomes if one.x is not None and one.prediction.question}
    counted, collected, contradicted = _count_with_retries(store, tenant, reported, watching, eta, bringing)
    replayed = sum(outcome.prediction.replayed for outcome in outcomes)
    repeated = len(outcomes) - replayed - counted
    told = OutcomesCounted(counted=counted, repeated=repeated, replayed=replayed, covered=covered, collected=collected)
    return told, contradicted


def _numbered(outcome: Outcome, watching: Watched) -> Outcome:
    """With the number of a class in the place of its name."""
    field = outcome.field
    if watching.labels is None:
        if isinstance(outcome.y, str):
            raise DataError(f"{field} must be a number: the predictor's classes have no names.", field=field)
        return outcome
    try:
        (code,) = codes_of([outcome.y], watching.labels)
    except DataError as error:
        raise DataError(str(error), field=field) from None
    return replace(outcome, y=code if isinstance(code, float) else int(code))


def _covered(outcome: Outcome) -> bool:
    try:
        return bool(outcome.prediction.set.contains([outcome.y])[0])
    except DataError as error:
        raise DataError(str(error), field=outcome.field) from None
    except ValueError:
        raise DataError(f"{outcome.field} does not have the shape of the set.", field=outcome.field) from None


def _reported(outcome: Outcome, missed: bool, watching: Watched) -> Reported:
    prediction = outcome.prediction
    size = watching.size(prediction.member, float(prediction.set.size[0]))
    return Reported(prediction.number, missed, prediction.case, size, watching.group(prediction.group, outcome.y))


def _count_with_retries(
    store: Store,
    tenant: str,
    reported: dict[str, list[Reported]],
    watching: dict[str, Watched],
    eta: float,
    bringing: Mapping[str, Outcome],
) -> tuple[int, int, dict[str, bool]]:
    """How many were counted, how many are rows, and by predictor whether its certificate is contradicted now.

    ``bringing`` are the outcomes that bring their input, by their prediction's number.
    """
    for attempt in range(_TRIES):
        try:
            counted, contradicted = 0, {}
            rows: list[BroughtRow] = []
            newly: list[str] = []
            with store.writing() as work:
                # In one order for everybody, so that no two wait for each other.
                for id in sorted(reported):
                    was = work.outcomes.lock(tenant, id).contradicted_at is not None
                    fresh = work.outcomes.add(tenant, id, reported[id], watching[id].levels(eta))
                    if fresh:
                        work.audit.add("outcome.report", tenant, "predictor", id, details={"counted": len(fresh)})
                    counted += len(fresh)
                    contradicted[id] = work.outcomes.monitor(tenant, id).contradicted_at is not None
                    newly += [id] if contradicted[id] and not was else []
                    brought = [bringing[one.prediction] for one in fresh if one.prediction in bringing]
                    rows += [_brought(outcome, watching[id]) for outcome in brought]
                collected = collect(work, tenant, rows)
                # After the rows that it may rest on were collected: they are dropped with all others before it.
                for id in newly:
                    note_contradiction(work, tenant, id)
            return counted, collected, contradicted
        except (DuplicateError, DatabaseBusyError):
            # Somebody else reported the predictor's first outcome, or this very one, at the same moment.
            if attempt + 1 == _TRIES:
                raise
            time.sleep(_FIRST_PAUSE * 2**attempt)
    raise AssertionError


def _brought(outcome: Outcome, watching: Watched) -> BroughtRow:
    prediction = outcome.prediction
    assert outcome.x is not None
    assert prediction.question is not None
    return BroughtRow(
        token=prediction.question.deployment,
        asked_at=prediction.question.asked_at,
        prediction=prediction.number,
        x=outcome.x,
        y=_numbers(outcome.y),
        group=watching.group_name(prediction.group),
    )


def _numbers(y: Any) -> list[float]:
    return [float(number) for number in y] if isinstance(y, list) else [float(y)]


def correct_outcome(
    store: Store, tenant: str, prediction: IssuedPrediction, eta: float, y: Any = None
) -> tuple[OutcomeState, bool]:
    """Another truth for a prediction whose outcome was reported, or, without one, no truth at all.

    Also says whether the certificate is contradicted now. Hits and misses are corrected by the same rule, and the audit
    log says what was changed.
    """
    if prediction.replayed:
        raise ConflictError("This prediction was a replay, and its outcome was never counted.")
    id = prediction.predictor
    with store.writing() as work:
        promised = watched(work, tenant, id)
        y = None if y is None else _numbered(Outcome(prediction, y), promised).y
        covered = None if y is None else _covered(Outcome(prediction, y))
        levels = promised.levels(eta)
        was = _word(work, work.corrections.get(tenant, prediction.number))
        was_contradicted = work.outcomes.lock(tenant, id).contradicted_at is not None
        missed = None if covered is None else not covered
        group = None if y is None else promised.group(prediction.group, y)
        record = work.corrections.correct(tenant, prediction.number, levels, missed=missed, group=group)
        correct_row(work, tenant, prediction.number, None if y is None else _numbers(y))
        now = _word(work, record)
        action = "outcome.annul" if y is None else "outcome.correct"
        details = {"prediction": prediction.number, "was": was, "is": now}
        work.audit.add(action, tenant, "predictor", id, details=details)
        contradicted = work.outcomes.monitor(tenant, id).contradicted_at is not None
        if contradicted and not was_contradicted:
            note_contradiction(work, tenant, id)
    return OutcomeState(predictor_id=id, covered=covered, state=record.state), contradicted


def _word(work: Transaction, record: OutcomeRecord) -> str:
    missed = work.corrections.was_missed(record)
    return record.state if missed is None else "missed" if missed else "covered"
