"""The resources of the HTTP API as JSON has them: what the server sends and what the client reads are one definition.

The client of today reads a server of tomorrow: it ignores fields that it does not know, and only where the contract
lists all words for good is an unknown one an error. Elsewhere OpenAPI names the words that this version uses.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

CalibrationStatus: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
FINISHED: tuple[CalibrationStatus, ...] = ("succeeded", "failed", "cancelled")

Task: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["classification", "regression"]})]
TruthKind: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["labels", "numbers", "vectors"]})]
Serving: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["random", "best"]})]
CertificateStatus: TypeAlias = Annotated[
    str, Field(json_schema_extra={"enum": ["consistent", "contradicted", "withdrawn"]})
]
GuaranteeName: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["per_draw", "posterior"]})]
AuditResult: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["ok", "refused", "failed"]})]
KeyAlgorithm: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["ed25519"]})]


class Resource(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)


class Dataset(Resource):
    id: str
    name: str
    rows: int
    x_shape: tuple[int, ...]
    y_kind: TruthKind
    target: str
    """the column, or the columns with commas, that held y"""
    sha256: str
    bytes: int
    created_at: str


class Rows(Resource):
    """Some rows of a dataset."""

    start: int
    rows: int
    """of the whole dataset"""
    x: tuple[tuple[float, ...], ...]
    """each row flat"""
    y: tuple[Any, ...]


class Model(Resource):
    id: str
    name: str
    task: Task
    input_shape: tuple[int, ...]
    classes: int | None
    sha256: str
    bytes: int
    manifest: dict[str, Any]
    created_at: str


class Progress(Resource):
    phase: str
    step: int
    steps: int
    fraction: float
    metrics: dict[str, float | None]
    """such as loss, and kl spent of budget, in nats"""


class Calibration(Resource):
    id: str
    name: str
    status: CalibrationStatus
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


class Predictor(Resource):
    id: str
    name: str
    task: Task
    score: str
    members: int
    input_shape: tuple[int, ...]
    serve: Serving
    """random: a member is drawn for each input; best: always the one with the smallest certified size"""
    certificate_id: str
    certificate_status: CertificateStatus
    """what reported outcomes say about the certificate"""
    calibration_id: str
    created_at: str


class PathPoint(Resource):
    outcomes: int
    misses: int
    log_capital: float


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


class Promise(Resource):
    """What a predictor's certificate promises, in short: it comes with every set."""

    id: str
    """of the certificate"""
    coverage: float
    delta: float
    """the probability with which the promise may fail"""
    guarantee: GuaranteeName
    status: CertificateStatus
    """what reported outcomes say about the certificate"""


class OutcomesCounted(Resource):
    counted: int
    repeated: int
    """known before, and not counted again"""
    replayed: int
    """of members that were asked for, and therefore not counted"""
    covered: tuple[bool, ...]
    """for each outcome, whether its set contained it"""


class Check(Resource):
    name: str
    ok: bool
    expected: Any
    found: Any


class Verification(Resource):
    valid: bool
    """whether the numbers follow from each other and the service's key has signed them"""
    status: CertificateStatus
    """what reported outcomes say about the certificate, or that its predictor was deleted"""
    checks: tuple[Check, ...]


class PublicKey(Resource):
    algorithm: KeyAlgorithm
    public_key: str
    """base64"""


class Limits(Resource):
    """What a tenant may have; null where there is no limit."""

    bytes: int | None
    rows: int | None
    datasets: int | None
    models: int | None
    predictors: int | None
    queued_jobs: int | None
    running_jobs: int | None
    """further ones wait"""


class Usage(Resource):
    """What a tenant has, and may have."""

    tenant: str
    bytes: int
    """of its stored data, models and predictors"""
    rows: int
    """of all its data sets"""
    datasets: int
    models: int
    predictors: int
    queued_jobs: int
    running_jobs: int
    limits: Limits


class Ready(Resource):
    """Whether the service can serve sets; each part is ok, busy, read-only, full or unavailable."""

    ready: bool
    database: str
    broker: str
    artifacts: str
    disk: str = "unknown"
    """of the server's own files, such as uploads; unknown to servers before 0.2.0"""


class AuditEntry(Resource):
    """A change, or refusals of one kind that were counted."""

    id: str
    at: str
    """when it was changed, or last refused"""
    action: str
    """such as dataset.create; of a refused call that changes nothing, the scope that it needs"""
    result: AuditResult
    """ok: it was done; refused: by a 4xx; failed: by a 5xx"""
    status: int | None
    """of the answer, if it was not done"""
    code: str | None
    """of the problem, likewise"""
    tenant: str | None
    """whose records it is about; null if the caller is unknown"""
    key_id: str | None
    user: str | None
    """of the operating system, for what an operator did by command"""
    address: str | None
    object_kind: str | None
    object_id: str | None
    count: int
    """how many calls, all alike, this entry stands for"""
    first_at: str | None
    """when the first of them was refused"""
    details: dict[str, Any] | None


class FieldProblem(Resource):
    where: str
    """the field, as the request has it, such as prior.split"""
    message: str


class Problem(Resource):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    """what is wrong, in a sentence"""
    code: str
    """the kind of error; never changes"""
    errors: tuple[FieldProblem, ...] | None = None
