"""Inserting a record that somebody else may be inserting at the same moment, and the artifact that it names."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from certiset.core.errors import DuplicateError
from certiset.core.store.records import Dataset, ModelRecord
from certiset.core.store.store import Store, Transaction

R = TypeVar("R")
Uploaded = TypeVar("Uploaded", Dataset, ModelRecord)


def insert_or_get(
    store: Store, find: Callable[[Transaction], R | None], insert: Callable[[Transaction], R]
) -> tuple[R, bool]:
    """The record, and whether it is new: of two who insert the same, one makes it and the other finds it."""
    try:
        with store.writing() as work:
            found = find(work)
            return (found, False) if found is not None else (insert(work), True)
    except DuplicateError:
        with store.reading() as work:
            found = find(work)
        if found is None:
            raise
        return found, False


def insert_with_artifact(
    store: Store,
    find: Callable[[Transaction], Uploaded | None],
    make: Callable[[], tuple[Uploaded, bytes | Path]],
    insert: Callable[[Transaction, Uploaded], Uploaded],
) -> tuple[Uploaded, bool]:
    """The record of some content, and whether it is new; ``make`` gives a record and its artifact: bytes, or a file."""
    with store.reading() as work:
        known = find(work)
    if known is not None and store.artifacts.intact(known.artifact):
        return known, False
    # An artifact that is missing or damaged is written again, under the same name.
    record, content = make()
    artifact = record.artifact = store.artifacts.put(content)
    found, is_new = insert_or_get(store, find, lambda work: insert(work, record))
    if not store.artifacts.exists(artifact):
        # Collected as garbage in the moment before its record was inserted.
        store.artifacts.put(content)
    return found, is_new
