"""The table of batches: jobs that write the sets of all rows of a data set into one file."""

from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.orm import Mapped, mapped_column

from certiset.core.store.job_columns import JobColumns, job_constraints
from certiset.core.store.record_base import Id, Record


class BatchRecord(JobColumns, Record):
    __tablename__ = "batches"
    __table_args__ = job_constraints("artifact")
    noun = "batch"
    doing = "working on this batch"

    predictor_id: Mapped[str] = mapped_column(Id)
    """what a deployment's name stood for when the batch was asked for"""
    dataset_id: Mapped[str] = mapped_column(Id)
    predictor_artifact: Mapped[str] = mapped_column(Id)
    dataset_artifact: Mapped[str] = mapped_column(Id)
    """both are kept while a worker reads them, whatever is deleted"""
    members_artifact: Mapped[str | None] = mapped_column(Id)
    """who answers for each row, where rows belong to cases"""
    options: Mapped[dict[str, Any]]
    """alpha, and the column of the cases"""
    rows: Mapped[int] = mapped_column(BigInteger)
    """of the data set"""
    artifact: Mapped[str | None] = mapped_column(Id, index=True)
    """the answer, a Parquet file"""
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    """of the answer"""
