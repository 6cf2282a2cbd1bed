"""Outcomes of served sets: judged by the set that each prediction carries, and counted once."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from certiset.core.certificate import Certificate
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.errors import DatabaseBusyError, DataError, DuplicateError
from certiset.core.resources import OutcomesCounted
from certiset.core.sets import PredictionSets
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
    missed: dict[str, dict[str, bool]] = {}
    for outcome, inside in zip(outcomes, covered, strict=True):
        if not outcome.prediction.replayed:
            missed.setdefault(outcome.prediction.predictor, {}).setdefault(outcome.prediction.number, not inside)
    with store.reading() as work:
        # Of all that are named: a predictor that was deleted takes no outcomes, whether they count or not.
        named = {outcome.prediction.predictor for outcome in outcomes}
        alphas = {id: promised_miscoverage(work, tenant, id) for id in named}
    counted, contradicted = _count_with_retries(store, tenant, missed, alphas, eta)
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


def _count_with_retries(
    store: Store, tenant: str, missed: dict[str, dict[str, bool]], alphas: dict[str, float], eta: float
) -> tuple[int, dict[str, bool]]:
    """How many were counted, and by predictor whether its certificate is contradicted now."""
    for attempt in range(_TRIES):
        try:
            counted, contradicted = 0, {}
            with store.writing() as work:
                # In one order for everybody, so that no two wait for each other.
                for id in sorted(missed):
                    fresh = work.outcomes.add(tenant, id, missed[id], alpha=alphas[id], eta=eta)
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


def promised_miscoverage(work: Transaction, tenant: str, predictor_id: str) -> float:
    """What the stored certificate promises for what is really served."""
    record = work.certificates.get(tenant, work.predictors.get(tenant, predictor_id).certificate_id)
    coverage = Certificate.from_json(record.document).coverage
    return guarantee_of(coverage).promised_alpha(coverage)
