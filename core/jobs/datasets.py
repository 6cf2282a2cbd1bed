"""From an uploaded file to a dataset."""

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

from certiset.core.data import Limits, convert_dataset
from certiset.core.data.stored_rows import read_columns
from certiset.core.errors import DataError
from certiset.core.jobs.insert import insert_with_artifact
from certiset.core.scratch import scratch_file
from certiset.core.store.identifiers import new_id
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import Dataset
from certiset.core.store.store import Store, Transaction
from certiset.core.store.text import printable

_LONGEST_NAME = 200
_LONGEST_TARGET = 1000
_MOST_SHOWN = 1000


def add_dataset(
    store: Store, tenant: str, file: Path, *, filename: str, name: str = "", target: str = "y"
) -> tuple[Dataset, bool]:
    """The dataset, and whether it is new: the same bytes read in the same way are the same dataset.

    An empty target: the file has inputs without truths. An error names the field of the upload: file or target.
    """
    if printable(target, _LONGEST_TARGET) != target:
        raise DataError(f"target must be printable text of at most {_LONGEST_TARGET:,} characters.", field="target")
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()

    limits = Limits(unpacked_bytes=store.settings.max_unpacked_bytes)
    with scratch_file(store.settings.scratch) as output:

        def make() -> tuple[Dataset, Path]:
            try:
                found = convert_dataset(file, filename, target or None, limits, output)
            except DataError as error:
                # The arrays and columns inside the file are no fields of the upload.
                if error.field != "target":
                    error.field = "file"
                raise
            record = Dataset(
                id=new_id("ds"),
                tenant=tenant,
                name=printable(name or Path(filename).stem, _LONGEST_NAME),
                sha256=digest,
                target=target,
                rows=found.rows,
                x_shape=found.x_shape,
                y_kind=found.y_kind,
                bytes=file.stat().st_size,
            )
            return record, output

        return insert_with_artifact(
            store,
            lambda work: work.datasets.of_content(tenant, digest, target),
            make,
            _insert,
            tenant=tenant,
            wanted=Amounts(datasets=1),
        )


def described_columns(store: Store, dataset: Dataset) -> list[dict[str, Any]] | None:
    """What a dataset's columns hold, for those who look at it: at most 1,000; None where they have no names."""
    found = read_columns(partial(store.artifacts.part, dataset.artifact))
    return None if found is None else found["columns"][:_MOST_SHOWN]


def _insert(work: Transaction, record: Dataset) -> Dataset:
    work.audit.add("dataset.create", record.tenant, "dataset", record.id)
    return work.datasets.add(record)
