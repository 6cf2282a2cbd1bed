"""Inserting a record that somebody else may be inserting at the same moment, and the artifact that it names."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from certiset.core.errors import DuplicateError
from certiset.core.store.quotas import Amounts
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
    *,
    tenant: str,
    wanted: Amounts,
) -> tuple[Uploaded, bool]:
    """The record of some content, and whether it is new; ``make`` gives a record and its artifact: bytes, or a file.

    ``wanted`` is what of the tenant's quotas is known to be needed before anything is read.
    """
    with store.reading() as work:
        known = find(work)
        if known is None:
            work.tenants.check(tenant, wanted)
    if known is not None and store.artifacts.intact(known.artifact):
        return known, False
    # An artifact that is missing or damaged is written again, under the same name.
    record, content = make()
    size = content.stat().st_size if isinstance(content, Path) else len(content)
    needed = replace(wanted, bytes=size, rows=record.rows if isinstance(record, Dataset) else 0)
    if known is None:
        # Refused before it is written, so that refusals do not fill the disk.
        with store.reading() as work:
            work.tenants.check(tenant, needed)
    if isinstance(record, Dataset):
        record.stored_bytes = size
    artifact = record.artifact = store.artifacts.put(content)

    def admitted(work: Transaction) -> Uploaded:
        work.tenants.admit(tenant, needed)
        return insert(work, record)

    found, is_new = insert_or_get(store, find, admitted)
    if not store.artifacts.exists(artifact):
        # Collected as garbage in the moment before its record was inserted.
        store.artifacts.put(content)
    return found, is_new
