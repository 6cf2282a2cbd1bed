"""Datasets, models, calibrations and predictors, as they are answered."""

from typing import Any, Literal

from pydantic import BaseModel

from core.store.records import Calibration, Dataset, ModelRecord, PredictorRecord
from service.shapes import calibration_json, instant


class DatasetAnswer(BaseModel):
    id: str
    name: str
    rows: int
    x_shape: list[int]
    y_kind: Literal["labels", "numbers", "vectors"]
    target: str
    sha256: str
    bytes: int
    created_at: str

    @classmethod
    def of(cls, record: Dataset) -> "DatasetAnswer":
        names = ("id", "name", "rows", "x_shape", "y_kind", "target", "sha256", "bytes")
        return cls(**{name: getattr(record, name) for name in names}, created_at=instant(record.created_at) or "")


class RowsAnswer(BaseModel):
    start: int
    rows: int
    """of the whole dataset"""
    x: list[list[float]]
    """each row flat"""
    y: list[Any]


class ModelAnswer(BaseModel):
    id: str
    name: str
    task: Literal["classification", "regression"]
    input_shape: list[int]
    classes: int | None
    sha256: str
    bytes: int
    manifest: dict[str, Any]
    created_at: str

    @classmethod
    def of(cls, record: ModelRecord) -> "ModelAnswer":
        names = ("id", "name", "task", "sha256", "bytes", "manifest")
        return cls(
            **{name: getattr(record, name) for name in names},
            input_shape=record.manifest["input_shape"],
            classes=record.manifest.get("classes"),
            created_at=instant(record.created_at) or "",
        )


class Progress(BaseModel):
    phase: str
    step: int
    steps: int
    fraction: float
    metrics: dict[str, float | None]


class CalibrationAnswer(BaseModel):
    id: str
    name: str
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    progress: Progress | None
    error: str | None
    dataset_id: str
    model_id: str
    options: dict[str, Any]
    attempts: int
    cancel_requested: bool
    predictor_id: str | None
    certificate_id: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None

    @classmethod
    def of(cls, record: Calibration) -> "CalibrationAnswer":
        return cls(**calibration_json(record))


class PredictorAnswer(BaseModel):
    id: str
    name: str
    task: Literal["classification", "regression"]
    score: str
    members: int
    input_shape: list[int]
    serve: Literal["random", "best"]
    certificate_id: str
    certificate_status: Literal["consistent", "contradicted"]
    calibration_id: str
    created_at: str

    @classmethod
    def of(cls, record: PredictorRecord, *, contradicted: bool) -> "PredictorAnswer":
        names = ("id", "name", "task", "score", "members", "serve", "certificate_id", "calibration_id")
        return cls(
            **{name: getattr(record, name) for name in names},
            input_shape=record.description["manifest"]["input_shape"],
            certificate_status="contradicted" if contradicted else "consistent",
            created_at=instant(record.created_at) or "",
        )
