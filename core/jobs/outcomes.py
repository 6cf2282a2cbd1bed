"""Outcomes of served sets: judged by the set that each prediction carries, counted once, corrected where they must."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from certiset.core.errors import ConflictError, DatabaseBusyError, DataError, DuplicateError
from certiset.core.jobs.watching import Watched, watched
from certiset.core.monitor_resources import OutcomesCounted, OutcomeState
from certiset.core.sets import PredictionSets
from certiset.core.store.outcomes import Reported
from certiset.core.store.records import OutcomeRecord
from certiset.core.store.store import Store, Transaction

_TRIES = 5
_FIRST_PAUSE = 0.02


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


@dataclass(frozen=True)
class Outcome:
    """A reported truth."""

    prediction: IssuedPrediction
    y: Any
    """a label, a number or a list of numbers"""
    field: str = "y"
    """what the caller calls y"""


def count_outcomes(
    store: Store, tenant: str, outcomes: Sequence[Outcome], eta: float
) -> tuple[OutcomesCounted, dict[str, bool]]:
    """Counts all outcomes in one transaction, or, if one is invalid, none.

    Also says, for each predictor that was counted for, whether its certificate is contradicted now.
    The outcome of a replayed member is judged and not counted: whoever chose the member may have chosen the outcome.
    """
    covered = tuple(_covered(outcome) for outcome in outcomes)
    with store.reading() as work:
        # Of all that are named: a predictor that was deleted takes no outcomes, whether they count or not.
        named = {outcome.prediction.predictor for outcome in outcomes}
        watching = {id: watched(work, tenant, id) for id in named}
    reported: dict[str, list[Reported]] = {}
    for outcome, inside in zip(outcomes, covered, strict=True):
        if not outcome.prediction.replayed:
            id = outcome.prediction.predictor
            reported.setdefault(id, []).append(_reported(outcome.prediction, not inside, watching[id]))
    counted, contradicted = _count_with_retries(store, tenant, reported, watching, eta)
    replayed = sum(outcome.prediction.replayed for outcome in outcomes)
    repeated = len(outcomes) - replayed - counted
    return OutcomesCounted(counted=counted, repeated=repeated, replayed=replayed, covered=covered), contradicted


def _covered(outcome: Outcome) -> bool:
    try:
        return bool(outcome.prediction.set.contains([outcome.y])[0])
    except DataError as error:
        raise DataError(str(error), field=outcome.field) from None
    except ValueError:
        raise DataError(f"{outcome.field} does not have the shape of the set.", field=outcome.field) from None


def _reported(prediction: IssuedPrediction, missed: bool, watching: Watched) -> Reported:
    size = watching.size(prediction.member, float(prediction.set.size[0]))
    return Reported(prediction.number, missed, prediction.case, size)


def _count_with_retries(
    store: Store, tenant: str, reported: dict[str, list[Reported]], watching: dict[str, Watched], eta: float
) -> tuple[int, dict[str, bool]]:
    """How many were counted, and by predictor whether its certificate is contradicted now."""
    for attempt in range(_TRIES):
        try:
            counted, contradicted = 0, {}
            with store.writing() as work:
                # In one order for everybody, so that no two wait for each other.
                for id in sorted(reported):
                    fresh = work.outcomes.add(tenant, id, reported[id], watching[id].levels(eta))
                    if fresh:
                        work.audit.add("outcome.report", tenant, "predictor", id, details={"counted": fresh})
                    counted += fresh
                    contradicted[id] = work.outcomes.monitor(tenant, id).contradicted_at is not None
            return counted, contradicted
        except (DuplicateError, DatabaseBusyError):
            # Somebody else reported the predictor's first outcome, or this very one, at the same moment.
            if attempt + 1 == _TRIES:
                raise
            time.sleep(_FIRST_PAUSE * 2**attempt)
    raise AssertionError


def correct_outcome(
    store: Store, tenant: str, prediction: IssuedPrediction, eta: float, y: Any = None
) -> tuple[OutcomeState, bool]:
    """Another truth for a prediction whose outcome was reported, or, without one, no truth at all.

    Also says whether the certificate is contradicted now. Hits and misses are corrected by the same rule, and the audit
    log says what was changed.
    """
    if prediction.replayed:
        raise ConflictError("This prediction was a replay, and its outcome was never counted.")
    covered = None if y is None else _covered(Outcome(prediction, y))
    id = prediction.predictor
    with store.writing() as work:
        levels = watched(work, tenant, id).levels(eta)
        was = _word(work, work.corrections.get(tenant, prediction.number))
        missed = None if covered is None else not covered
        record = work.corrections.correct(tenant, prediction.number, levels, missed=missed)
        now = _word(work, record)
        action = "outcome.annul" if y is None else "outcome.correct"
        details = {"prediction": prediction.number, "was": was, "is": now}
        work.audit.add(action, tenant, "predictor", id, details=details)
        contradicted = work.outcomes.monitor(tenant, id).contradicted_at is not None
    return OutcomeState(predictor_id=id, covered=covered, state=record.state), contradicted


def _word(work: Transaction, record: OutcomeRecord) -> str:
    missed = work.corrections.was_missed(record)
    return record.state if missed is None else "missed" if missed else "covered"
