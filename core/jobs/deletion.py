"""Records that are deleted, with the files that no other record needs."""

from certiset.core.errors import ConflictError
from certiset.core.store.garbage import discard_unnamed
from certiset.core.store.store import Store

_JUST_WRITTEN_SECONDS = 60.0
"""a file so young may be about to be named by another record"""


def delete_dataset(store: Store, tenant: str, dataset_id: str) -> None:
    """Removes the data; predictors and certificates made with them go on working."""
    with store.writing() as work:
        record = work.datasets.get(tenant, dataset_id)
        if work.calibrations.uses_dataset(dataset_id):
            raise ConflictError("A calibration that needs this dataset has not ended: cancel it first.")
        work.datasets.delete(record)
        work.audit.add("dataset.delete", tenant, "dataset", dataset_id)
    discard_unnamed(store, record.artifact, _JUST_WRITTEN_SECONDS)
