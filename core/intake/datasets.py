"""From an uploaded file to a dataset."""

import hashlib
from pathlib import Path

from core.datasets import Limits, read_dataset
from core.errors import DataError
from core.intake.entering import enter
from core.store.identifiers import new_id
from core.store.records import Dataset
from core.store.store import Store, Transaction
from core.store.text import printable

_PIECE = 2**20
_LONGEST_TARGET = 1000


def add_dataset(
    store: Store, tenant: str, file: Path, *, filename: str, name: str = "", target: str = "y"
) -> tuple[Dataset, bool]:
    """The dataset, and whether it is new: the same bytes read in the same way are the same dataset."""
    if printable(target, _LONGEST_TARGET) != target:
        raise DataError(f"target must have at most {_LONGEST_TARGET} characters, and none that cannot be printed.")
    digest = _sha256(file)
    with store.reading() as work:
        known = work.datasets.of_content(tenant, digest, target)
    if known is not None and store.artifacts.intact(known.artifact):
        return known, False
    # A file that was damaged since is written anew here, under the same name.
    arrays = read_dataset(file, filename, target, Limits(unpacked_bytes=store.settings.max_unpacked_bytes))
    content = arrays.to_bytes()
    made = Dataset(
        id=new_id("ds"),
        tenant=tenant,
        name=printable(name or Path(filename).stem, 200),
        sha256=digest,
        target=target,
        artifact=store.artifacts.put(content),
        rows=len(arrays.x),
        x_shape=list(arrays.x.shape[1:]),
        y_kind=arrays.y_kind,
        bytes=file.stat().st_size,
    )

    def known_before(work: Transaction) -> Dataset | None:
        return work.datasets.of_content(tenant, digest, target)

    found, new = enter(store, known_before, lambda work: work.datasets.add(made))
    if not store.artifacts.exists(made.artifact):
        # Collected as garbage in the moment before its record was there.
        store.artifacts.put(content)
    return found, new


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
