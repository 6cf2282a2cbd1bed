"""Outcomes and monitors as JSON has them."""

from typing import Annotated, TypeAlias

from pydantic import Field

from certiset.core.resource_base import CertificateStatus, Resource

OutcomeStateName: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["counted", "repeated", "annulled"]})]


class PathPoint(Resource):
    outcomes: int
    misses: int
    log_capital: float


class SizeMonitor(Resource):
    """How large the sets of counted outcomes were, against the certified mean size."""

    promised: float
    """the certified mean"""
    cap: float
    """sizes above it count as it"""
    sets: int
    mean: float | None
    eta: float
    log_capital: float
    log_peak: float
    log_threshold: float


class Monitor(Resource):
    """How served sets have done, and whether that contradicts the certificate."""

    predictor_id: str
    certificate_id: str
    status: CertificateStatus
    promised_miscoverage: float
    outcomes: int
    misses: int
    miscoverage: float | None
    interval: tuple[float, float]
    """holds at every moment at once, with probability 1 - eta"""
    eta: float
    log_capital: float
    log_peak: float
    log_threshold: float
    """contradicted once the capital's logarithm reaches it"""
    contradicted_at: str | None
    path: tuple[PathPoint, ...]
    contradicted_by: tuple[str, ...] = ()
    """coverage, size, or both"""
    eta_coverage: float | None = None
    """the part of eta that outcomes may spend; the rest is for sizes"""
    size: SizeMonitor | None = None
    """null where no size is certified"""
    issued: int = 0
    """sets served, replays apart"""
    reported: int = 0
    """of which the outcome was reported, counted or not"""
    share: float | None = None
    """reported / issued"""
    caveats: tuple[str, ...] = ()
    """what to know about the verdict"""


class OutcomesCounted(Resource):
    counted: int
    repeated: int
    """known before, by their prediction or by their case, and not counted again"""
    replayed: int
    """of members that were asked for, and therefore not counted"""
    covered: tuple[bool, ...]
    """for each outcome, whether its set contained it"""


class OutcomeState(Resource):
    """An outcome that was reported, after it was corrected."""

    predictor_id: str
    covered: bool | None
    """whether the set contained the truth; null where there is none any more"""
    state: OutcomeStateName
    """counted; repeated: another of the same case counts; annulled: its truth was withdrawn"""
