"""Calibration data that were uploaded."""

from typing import ClassVar

from certiset.core.store.owned_records import OwnedRecords
from certiset.core.store.records import Dataset


class Datasets(OwnedRecords[Dataset]):
    record: ClassVar[type[Dataset]] = Dataset
    noun: ClassVar[str] = "dataset"

    def of_content(self, tenant: str, sha256: str, target: str) -> Dataset | None:
        """The same bytes, read in the same way, uploaded before."""
        return self._one(tenant=tenant, sha256=sha256, target=target)
