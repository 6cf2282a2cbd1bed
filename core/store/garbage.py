"""Removes files that no record names: what a killed process left, and the data of deleted datasets."""

import time

from sqlalchemy import select, union
from sqlalchemy.orm import Session

from core.store.artifacts import StoredFile
from core.store.records import FINISHED, Calibration, Dataset, ModelRecord, PredictorRecord
from core.store.store import Store


def orphans(store: Store, older_than: float) -> list[StoredFile]:
    """Files that are neither named by a record nor younger than that many seconds.

    The age protects files whose record is about to be committed.
    """
    horizon = time.time() - older_than
    old = [file for file in store.artifacts.files() if file.modified <= horizon]
    # Listed before asking: a file that is named between the two is found named.
    with store.database.reading() as session:
        named = _named(session)
    return [file for file in old if file.sha256 is None or file.sha256 not in named]


def collect_garbage(store: Store, older_than: float) -> list[StoredFile]:
    """Removes the orphans and says which they were."""
    return [file for file in orphans(store, older_than) if store.artifacts.discard(file, older_than)]


def discard_unnamed(store: Store, name: str, older_than: float) -> bool:
    """Removes one file at once, if no record names it any more."""
    with store.database.reading() as session:
        if name in _named(session):
            return False
    return store.artifacts.discard(store.artifacts.file(name), older_than)


def _named(session: Session) -> set[str]:
    active = Calibration.status.not_in(FINISHED)
    return set(
        session.scalars(
            union(
                select(Dataset.artifact),
                select(ModelRecord.artifact),
                select(PredictorRecord.artifact),
                select(Calibration.dataset_artifact).where(active),
                select(Calibration.model_artifact).where(active),
            )
        )
    )
