"""A row of the list of calibrations and predictors, as JSON has it."""

from typing import Annotated, TypeAlias

from pydantic import Field

from certiset.core.resource_base import Resource
from certiset.core.resources import GuaranteeName, Task

RowStatus: TypeAlias = Annotated[
    str,
    Field(json_schema_extra={"enum": ["consistent", "contradicted", "queued", "running", "failed", "cancelled"]}),
]


class OverviewRow(Resource):
    """A predictor that is served, with its certificate's numbers, or a calibration that has none."""

    calibration_id: str
    predictor_id: str | None
    certificate_id: str | None
    name: str
    status: RowStatus
    """of the certificate, if there is one, and otherwise of the calibration"""
    fraction: float | None
    """of a fit, how much is done"""
    error: str | None
    task: Task
    dataset_id: str
    dataset_name: str
    model_id: str
    model_name: str
    method: str | None
    guarantee: GuaranteeName | None
    alpha: float | None
    delta: float | None
    n: int | None
    """rows that calibrate"""
    size: float | None
    """mean size on those rows"""
    certified_size: float | None
    measure: str | None
    """what sizes count: labels, width or volume"""
    outcomes: int
    """that were reported and count"""
    misses: int
    created_at: str
