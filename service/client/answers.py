"""The server's answers. A field that a newer server adds is ignored."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

FINISHED = ("succeeded", "failed", "cancelled")


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Dataset(Answer):
    id: str
    name: str
    rows: int
    x_shape: tuple[int, ...]
    y_kind: str
    """labels, numbers or vectors"""
    target: str
    sha256: str
    bytes: int
    created_at: str


class Model(Answer):
    id: str
    name: str
    task: str
    """classification or regression"""
    input_shape: tuple[int, ...]
    classes: int | None
    sha256: str
    bytes: int
    manifest: dict[str, Any]
    created_at: str


class Progress(Answer):
    phase: str
    step: int
    steps: int
    fraction: float
    metrics: dict[str, float | None]
    """such as loss, and kl spent of budget, in nats"""


class Calibration(Answer):
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

    @property
    def finished(self) -> bool:
        return self.status in FINISHED


class Predictor(Answer):
    id: str
    name: str
    task: str
    score: str
    members: int
    input_shape: tuple[int, ...]
    serve: str
    """random: a member is drawn for each input; best: always the one with the smallest certified size"""
    certificate_id: str
    certificate_status: str
    """consistent or contradicted by outcomes"""
    calibration_id: str
    created_at: str


class PathPoint(Answer):
    outcomes: int
    misses: int
    log_capital: float


class Monitor(Answer):
    """How served sets have done, and whether that contradicts the certificate."""

    predictor_id: str
    certificate_id: str
    status: str
    promised_miscoverage: float
    outcomes: int
    misses: int
    miscoverage: float | None
    interval: tuple[float, float]
    eta: float
    log_capital: float
    log_peak: float
    log_threshold: float
    contradicted_at: str | None
    path: tuple[PathPoint, ...]


class OutcomesCounted(Answer):
    counted: int
    repeated: int
    replayed: int
    covered: tuple[bool, ...]
    """for each outcome, whether its set contained it"""


class Check(Answer):
    name: str
    ok: bool
    expected: Any
    found: Any


class Verification(Answer):
    valid: bool
    status: str
    """what outcomes have said since: consistent or contradicted"""
    checks: tuple[Check, ...]


class PublicKey(Answer):
    algorithm: str
    public_key: str
    """base64"""


class Ready(Answer):
    """Each part is ok or away."""

    ready: bool
    database: str
    broker: str
    artifacts: str
