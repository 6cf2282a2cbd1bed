"""Removes files that no record refers to: leftovers of killed processes, and what was deleted."""

import time
from collections.abc import Iterable

from sqlalchemy import select, union
from sqlalchemy.orm import Session

from certiset.core.resources import FINISHED
from certiset.core.store.artifacts import StoredFile
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.records import Calibration, Dataset, ModelRecord, PredictorRecord, Tenant
from certiset.core.store.store import Store


def orphans(store: Store, older_than: float) -> list[StoredFile]:
    """Files older than that many seconds to which no record refers.

    The age protects files whose record is about to be committed.
    """
    horizon = time.time() - older_than
    old = [file for file in store.artifacts.files() if file.modified <= horizon]
    # Files are listed before the database is read: a record added in between is seen.
    with store.database.reading() as session:
        named = _named(session)
    return [file for file in old if file.sha256 is None or file.sha256 not in named]


def collect_garbage(store: Store, older_than: float) -> list[StoredFile]:
    """Removes the orphans and returns them."""
    return [file for file in orphans(store, older_than) if store.artifacts.discard(file, older_than)]


def discard_unnamed(store: Store, name: str, older_than: float) -> bool:
    """Removes one file at once, if no record refers to it any more."""
    with store.database.reading() as session:
        if name in _named(session):
            return False
    return store.artifacts.discard(store.artifacts.file(name), older_than)


def discard_all_unnamed(store: Store, names: Iterable[str], older_than: float) -> int:
    """The same for many files; returns how many were removed."""
    with store.database.reading() as session:
        named = _named(session)
    return sum(store.artifacts.discard(store.artifacts.file(name), older_than) for name in sorted({*names} - named))


def _named(session: Session) -> set[str]:
    active, running = Calibration.status.not_in(FINISHED), BatchRecord.status == "running"
    return set(
        session.scalars(
            union(
                select(Dataset.artifact),
                select(ModelRecord.artifact),
                select(PredictorRecord.artifact).where(PredictorRecord.withdrawn_at.is_(None)),
                select(Calibration.dataset_artifact).where(active),
                select(Calibration.model_artifact).where(active),
                select(Calibration.target_artifact).where(active, Calibration.target_artifact.is_not(None)),
                # What a batch waits for may be deleted, and it fails then; what one reads stays until it has ended.
                select(BatchRecord.dataset_artifact).where(running),
                select(BatchRecord.predictor_artifact).where(running),
                select(BatchRecord.members_artifact).where(
                    BatchRecord.status.not_in(FINISHED), BatchRecord.members_artifact.is_not(None)
                ),
                select(BatchRecord.artifact).where(BatchRecord.artifact.is_not(None)),
                select(Tenant.row_key).where(Tenant.row_key.is_not(None)),
            )
        )
    )
