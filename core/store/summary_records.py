"""What a list of predictors is searched and sorted by: the numbers of each certificate, in columns with indexes."""

from sqlalchemy import BigInteger, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from certiset.core.store.record_base import Id as _Id
from certiset.core.store.record_base import Record


class Summary(Record):
    """One row for each predictor that is served; it goes with the predictor."""

    __tablename__ = "summaries"
    __table_args__ = (
        Index(None, "tenant", "calibration_id"),
        Index(None, "tenant", "name", "calibration_id"),
        Index(None, "tenant", "alpha", "calibration_id"),
        Index(None, "tenant", "n", "calibration_id"),
        Index(None, "tenant", "size", "calibration_id"),
        Index(None, "tenant", "certified_size", "calibration_id"),
        Index(None, "tenant", "dataset_id"),
        Index(None, "tenant", "model_id"),
    )

    tenant: Mapped[str] = mapped_column(_Id, primary_key=True)
    predictor_id: Mapped[str] = mapped_column(_Id, primary_key=True)
    calibration_id: Mapped[str] = mapped_column(_Id)
    """sorts by age"""
    certificate_id: Mapped[str] = mapped_column(_Id)
    dataset_id: Mapped[str] = mapped_column(_Id)
    model_id: Mapped[str] = mapped_column(_Id)
    name: Mapped[str] = mapped_column(String(200))
    dataset_name: Mapped[str] = mapped_column(String(200))
    model_name: Mapped[str] = mapped_column(String(200))
    task: Mapped[str] = mapped_column(String(20))
    method: Mapped[str | None] = mapped_column(String(40))
    guarantee: Mapped[str | None] = mapped_column(String(40))
    alpha: Mapped[float]
    delta: Mapped[float | None]
    n: Mapped[int | None] = mapped_column(BigInteger)
    """rows that calibrate"""
    size: Mapped[float | None]
    """mean size on those rows"""
    certified_size: Mapped[float | None]
    measure: Mapped[str | None] = mapped_column(String(20))
    created_at: Mapped[float]
