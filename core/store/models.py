"""Models that were uploaded."""

from typing import ClassVar

from certiset.core.store.owned_records import OwnedRecords
from certiset.core.store.records import ModelRecord


class Models(OwnedRecords[ModelRecord]):
    record: ClassVar[type[ModelRecord]] = ModelRecord
    noun: ClassVar[str] = "model"

    def of_content(self, tenant: str, sha256: str) -> ModelRecord | None:
        """The same model, uploaded before."""
        return self._one(tenant=tenant, sha256=sha256)
