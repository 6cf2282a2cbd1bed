"""From an uploaded file to a dataset."""

import hashlib
from pathlib import Path

from core.datasets import Limits, read_dataset
from core.store.identifiers import new_id
from core.store.records import Dataset
from core.store.store import Store

_PIECE = 2**20


def add_dataset(
    store: Store, tenant: str, file: Path, *, filename: str, name: str = "", target: str = "y"
) -> tuple[Dataset, bool]:
    """The dataset, and whether it is new: the same bytes read in the same way are the same dataset."""
    digest = _sha256(file)
    with store.reading() as work:
        known = work.datasets.of_content(tenant, digest, target)
    if known is not None:
        return known, False
    arrays = read_dataset(file, filename, target, Limits(unpacked_bytes=store.settings.max_unpacked_bytes))
    artifact = store.artifacts.put(arrays.to_bytes())
    with store.writing() as work:
        known = work.datasets.of_content(tenant, digest, target)
        if known is not None:
            return known, False
        made = Dataset(
            id=new_id("ds"),
            tenant=tenant,
            name=name or Path(filename).stem,
            sha256=digest,
            target=target,
            artifact=artifact,
            rows=len(arrays.x),
            x_shape=list(arrays.x.shape[1:]),
            y_kind=arrays.y_kind,
            bytes=file.stat().st_size,
        )
        return work.datasets.add(made), True


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
