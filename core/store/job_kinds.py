"""The kinds of jobs: all of them take turns, are leased, swept and counted alike."""

from typing import TypeAlias

from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.records import Calibration

Job: TypeAlias = Calibration | BatchRecord
JOBS: tuple[type[Calibration] | type[BatchRecord], ...] = (Calibration, BatchRecord)
_BATCH = "batch-"


def kind_of(id: str) -> type[Calibration] | type[BatchRecord]:
    """The table that a job with this id is in."""
    return BatchRecord if id.startswith(_BATCH) else Calibration
