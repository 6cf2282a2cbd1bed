"""Jobs that are claimed, left alone and swept, at times that the tests choose."""

from sqlalchemy import update

from certiset.core.store import Store
from certiset.core.store.leases import Claim
from certiset.core.store.records import Calibration
from certiset.core.store.store import Transaction


def claim(store: Store, calibration: Calibration) -> Claim | None:
    with store.writing() as work:
        return work.leases.claim(calibration.id)


def claimed(store: Store, calibration: Calibration) -> Claim:
    found = claim(store, calibration)
    assert found is not None
    return found


def age(store: Store, calibration: Calibration, column: str, seconds: float) -> None:
    """As if that much time had passed."""
    with store.writing() as work:
        age_in(work, calibration, column, seconds)


def age_in(work: Transaction, calibration: Calibration, column: str, seconds: float) -> None:
    changed = {column: getattr(Calibration, column) - seconds}
    work.session.execute(update(Calibration).where(Calibration.id == calibration.id).values(changed))


def sweep(store: Store, message_seconds: float = 60) -> list[str]:
    with store.writing() as work:
        return work.leases.sweep(message_seconds).announced
