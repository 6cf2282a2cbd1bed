"""New names for predictors, datasets and models. Certificates keep the names that they were issued with."""

from certiset.core.errors import OptionError
from certiset.core.store.records import Dataset, ModelRecord, PredictorRecord
from certiset.core.store.store import Store, Transaction
from certiset.core.store.text import printable

LONGEST = 200


def rename_dataset(store: Store, tenant: str, id: str, name: str) -> Dataset:
    with store.writing() as work:
        record = work.datasets.get(tenant, id)
        _rename(work, tenant, "dataset", record, name)
        return record


def rename_model(store: Store, tenant: str, id: str, name: str) -> ModelRecord:
    with store.writing() as work:
        record = work.models.get(tenant, id)
        _rename(work, tenant, "model", record, name)
        return record


def rename_predictor(store: Store, tenant: str, id: str, name: str) -> tuple[PredictorRecord, bool]:
    """The predictor, and whether outcomes contradict its certificate."""
    with store.writing() as work:
        record = work.predictors.get(tenant, id)
        _rename(work, tenant, "predictor", record, name)
        return record, work.outcomes.monitor(tenant, id).contradicted_at is not None


def _rename(
    work: Transaction, tenant: str, kind: str, record: Dataset | ModelRecord | PredictorRecord, name: str
) -> None:
    """The record, what lists say of it, and the word in the audit log."""
    record.name = _checked(name)
    work.summaries.rename(tenant, kind, record.id, record.name)
    work.audit.add(f"{kind}.rename", tenant, kind, record.id, details={"name": record.name})


def _checked(name: str) -> str:
    cleaned = printable(name, LONGEST).strip()
    if not cleaned:
        raise OptionError("A name needs at least one letter that can be shown.", field="name")
    return cleaned
