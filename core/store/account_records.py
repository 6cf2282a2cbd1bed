"""The tables of the account: which fits have begun on which rows."""

from sqlalchemy import BigInteger, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from certiset.core.store.clock import now
from certiset.core.store.record_base import Id, Record


class RowSketchRecord(Record):
    """Which rows a calibrated data set has, as keyed hashes of a sample; stays when the data are deleted."""

    __tablename__ = "row_sketches"

    tenant: Mapped[str] = mapped_column(Id, primary_key=True)
    artifact: Mapped[str] = mapped_column(Id, primary_key=True)
    """of the data set"""
    rows: Mapped[int] = mapped_column(BigInteger)
    distinct_rows: Mapped[int] = mapped_column(BigInteger)
    total: Mapped[str] = mapped_column(String(16))
    hashes: Mapped[bytes] = mapped_column(LargeBinary)


class SharedRows(Record):
    """Two data sets with rows in common, each with itself included; written both ways round."""

    __tablename__ = "shared_rows"

    tenant: Mapped[str] = mapped_column(Id, primary_key=True)
    artifact: Mapped[str] = mapped_column(Id, primary_key=True)
    other: Mapped[str] = mapped_column(Id, primary_key=True)


class AttemptRecord(Record):
    """A fit that has begun on some rows: it counts from then on, whether it succeeds, fails or is deleted."""

    __tablename__ = "attempts"
    __table_args__ = (Index(None, "tenant", "artifact"),)

    calibration_id: Mapped[str] = mapped_column(Id, primary_key=True)
    """once, however often it was tried again"""
    tenant: Mapped[str] = mapped_column(Id)
    artifact: Mapped[str] = mapped_column(Id)
    """of its data set"""
    number: Mapped[int] = mapped_column(BigInteger)
    """among the attempts on rows that it shares, when it began"""
    delta: Mapped[float]
    """the probability with which its promise may fail"""
    delta_all: Mapped[float]
    """of all attempts up to this one together"""
    family: Mapped[int]
    """how many were planned beforehand"""
    created_at: Mapped[float] = mapped_column(default=now())
