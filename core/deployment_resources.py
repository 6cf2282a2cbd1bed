"""Deployments as JSON has them: what is asked for, and what is answered."""

import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from certiset.core.resource_base import CertificateStatus, Resource

MOST_ROWS = 1_000_000
MOST_DAYS = 3660.0
_SHORTEST_DAYS = 1 / 86400
_DURATION = re.compile(
    r"P(?:(?P<weeks>\d{1,4})W)?(?:(?P<days>\d{1,5})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,5})H)?(?:(?P<minutes>\d{1,6})M)?(?:(?P<seconds>\d{1,7})S)?)?"
)
_IN_DAYS = {"weeks": 7.0, "days": 1.0, "hours": 1 / 24, "minutes": 1 / 1440, "seconds": 1 / 86400}

SwitchKind: TypeAlias = Annotated[
    str, Field(json_schema_extra={"enum": ["created", "switched", "rolled_back", "recalibrated", "deleted"]})
]
EVENT_KINDS = (
    "created",
    "switched",
    "rolled_back",
    "changed",
    "contradicted",
    "calibrating",
    "recalibrated",
    "failed",
    "deleted",
)
EventKind: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": list(EVENT_KINDS)})]


class _Asked(BaseModel):
    """A part of a request: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def _duration(given: Any) -> Any:
    """An ISO 8601 duration of fixed length as days; anything else as it is."""
    if not isinstance(given, str):
        return given
    found = _DURATION.fullmatch(given)
    parts = {name: float(number) for name, number in found.groupdict().items() if number} if found else {}
    if not parts:
        raise ValueError(
            "must be an ISO 8601 duration in weeks, days, hours, minutes and seconds, such as P30D or PT12H"
        )
    return {"days": sum(_IN_DAYS[name] * number for name, number in parts.items())}


class Every(_Asked):
    """When a block of outcomes ends: after so many rows, or so many days."""

    rows: Annotated[int, Field(ge=1, le=MOST_ROWS, strict=True)] | None = None
    days: Annotated[float, Field(ge=_SHORTEST_DAYS, le=MOST_DAYS, strict=True)] | None = None

    @model_validator(mode="after")
    def _one(self) -> "Every":
        if (self.rows is None) == (self.days is None):
            raise ValueError("give rows or days, and not both")
        return self


class Recalibrate(_Asked):
    every: Annotated[Every, BeforeValidator(_duration)]
    """`{"rows": 500}`, `{"days": 30}`, or an ISO 8601 duration such as `"P30D"`"""
    on_contradiction: Annotated[bool, Field(strict=True)] = False
    """whether a contradiction begins a new block, of rows that come later alone"""
    population: Literal["served"] | None = None
    """served: the next predictors are for the population that is served, of which outcomes are draws, without the
    weights, prevalences or target inputs of the first one; needed where it has some"""


class Spend(_Asked):
    """A risk that all predictors of the deployment share."""

    total: Annotated[float, Field(gt=0, lt=1, strict=True)]
    over: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    """each recalibration has the delta `total / over`"""


class DeploymentRequest(_Asked):
    predictor: Annotated[str, Field(max_length=64)]
    """the id of the predictor that the name stands for"""
    recalibrate: Recalibrate | None = None
    """when to calibrate anew on reported outcomes; null: never, and nothing of an input is kept"""
    spend: Spend | Literal["per_deployment"] = "per_deployment"
    """per_deployment: each predictor has the delta of the first calibration, and the sum is stated"""


class RollbackRequest(_Asked):
    version: Annotated[int, Field(ge=1, strict=True)] | None = None
    """whose predictor to go back to; null: the one before"""


class Block(Resource):
    """The outcomes that are being collected for the next predictor."""

    number: int
    rows: int
    issued: int
    """sets served meanwhile under this name"""
    began_at: str
    ends_at: str | None
    """null where it ends by its number of rows"""
    waiting: tuple[str, ...] = ()
    """calibrations of earlier blocks that have not ended"""


class Deployment(Resource):
    name: str
    predictor: str
    version: int
    """grows with every change; what `If-Match` takes, and every answer under this name states"""
    since: str
    """when this predictor was switched to"""
    created_at: str
    certificate_id: str
    certificate_status: CertificateStatus
    recalibrate: Recalibrate | None = None
    spend: Spend | Literal["per_deployment"] = "per_deployment"
    predictors: int = 1
    """how many predictors it has stood for"""
    delta_all: float = 0.0
    """the sum of their risks"""
    block: Block | None = None
    """null where nothing is collected"""


class DeploymentVersion(Resource):
    """What a name stood for, and when."""

    version: int
    how: SwitchKind
    predictor: str | None
    """null: the name was deleted"""
    since: str
    until: str | None
    """null: it still does"""


class DeploymentEvent(Resource):
    number: int
    """counts from 1"""
    kind: EventKind
    at: str
    name: str
    version: int
    predictor: str
    details: dict[str, Any] | None = None
