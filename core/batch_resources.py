"""Batches as the HTTP API sends them and the client reads them."""

from certiset.core.resource_base import Resource
from certiset.core.resources import FINISHED, CalibrationStatus, Progress


class Batch(Resource):
    """The sets of all rows of a data set, as a job that writes one Parquet file."""

    id: str
    name: str
    status: CalibrationStatus
    progress: Progress | None
    error: str | None
    """why it failed, or what came in between the last time that it was tried"""
    predictor_id: str
    dataset_id: str
    alpha: float | None
    """the level that was asked for, where the promise is for all of them"""
    cases: str | None
    """the column that names the case of each row"""
    rows: int
    """of the data set, and of the file"""
    bytes: int | None
    """of the file, once it is there"""
    sha256: str | None
    """of the file"""
    attempts: int
    cancel_requested: bool
    created_at: str
    started_at: str | None
    finished_at: str | None

    @property
    def finished(self) -> bool:
        return self.status in FINISHED
