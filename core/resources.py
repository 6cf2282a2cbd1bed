"""The resources of the HTTP API as JSON has them: what the server sends and what the client reads are one definition.

The client of today reads a server of tomorrow: it ignores fields that it does not know, and only where the contract
lists all words for good is an unknown one an error. Elsewhere OpenAPI names the words that this version uses.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from certiset.core.resource_base import CertificateStatus, Resource

CalibrationStatus: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
FINISHED: tuple[CalibrationStatus, ...] = ("succeeded", "failed", "cancelled")

Task: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["classification", "regression"]})]
TruthKind: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["labels", "numbers", "vectors", "none"]})]
ColumnKind: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["number", "text"]})]
Serving: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["random", "best"]})]
RowTreatment: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["proved", "one_by_one"]})]
WordStatus: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["in force", "contradicted", "withdrawn"]})]
GuaranteeName: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["per_draw", "pool", "posterior"]})]
AuditResult: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["ok", "refused", "failed"]})]
KeyStatus: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["current", "retired"]})]
KeyAlgorithm: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["ed25519"]})]


class DataColumn(Resource):
    """A column of a table, beside those of the target."""

    name: str
    kind: ColumnKind
    missing: int
    """rows in which nothing is given"""
    distinct: int
    """different values, counted up to 1,000"""


class Dataset(Resource):
    id: str
    name: str
    rows: int
    x_shape: tuple[int, ...]
    y_kind: TruthKind
    target: str
    """the column, or the columns with commas, that held y; empty for inputs without truths"""
    sha256: str
    bytes: int
    created_at: str
    columns: tuple[DataColumn, ...] | None = None
    """at most 1,000 of them, where columns have names; lists of datasets leave them out"""


class DatasetRows(Resource):
    """Some rows of a dataset."""

    start: int
    rows: int
    """of the whole dataset"""
    x: tuple[tuple[float | None, ...], ...]
    """each row flat; null for a number that is missing"""
    y: tuple[Any, ...]
    """empty where there are no truths"""
    columns: tuple[str, ...] | None = None
    """names of the numbers of x, where they have some"""
    further: dict[str, tuple[str | float | None, ...]] | None = None
    """columns that are no inputs by themselves, such as text: one entry for each row, null where it is missing"""
    y_names: tuple[str, ...] | None = None
    """names of the classes, where y holds their places"""


class Model(Resource):
    id: str
    name: str
    task: Task
    input_shape: tuple[int, ...]
    classes: int | None
    sha256: str
    bytes: int
    rows: RowTreatment | None = None
    """proved: batches are computed as their rows would be one by one; one_by_one: every row is computed by a call of
    its own; null: uploaded before this was judged, and not calibrated since"""
    rows_reason: str | None = None
    """the first operator that the proof does not reach, for one_by_one"""
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
    target_dataset_id: str | None = None
    """inputs of another population, for which weights are estimated"""

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
    imported: bool = False
    """whether it was fitted elsewhere and taken over from its files, so that there is no calibration here"""


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
    caveats: int = 0
    """how many things the certificate asks its reader to know first"""
    attempt: int | None = None
    """on the calibration rows, when it was issued: 1 for the first; null where that is not known"""
    attempts: int | None = None
    """on these rows until now"""
    alpha: float | None = None
    """the level that was asked for, where the promise is for all of them at once"""


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
    signed_by: str | None = None
    """the public key whose signature it bears"""
    checks: tuple[Check, ...]


class CertificateWord(Resource):
    """What has become of a certificate, at a time: the predicate of a signed statement."""

    certificate_id: str
    predictor_id: str
    at: str
    """when it was said"""
    status: WordStatus
    """withdrawn: the predictor was deleted"""
    contradicted_at: str | None
    """when reported outcomes first contradicted it, whatever its status is now"""
    outcomes: int
    """that were reported"""
    misses: int
    attempts: int | None = None
    """on its rows until now, this one included"""


class PublicKey(Resource):
    algorithm: KeyAlgorithm
    public_key: str
    """base64"""
    id: str | None = None
    """the beginning of its SHA-256, as certificates state it; unknown to servers before 0.2.0"""
    status: KeyStatus = "current"
    """retired: signs nothing any more, but its certificates are trusted"""


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
    deployments: int | None = None


class Usage(Resource):
    """What a tenant has, and may have."""

    tenant: str
    bytes: int
    """of its stored data, models, predictors and batches"""
    rows: int
    """of all its data sets, and those collected for its deployments"""
    datasets: int
    models: int
    predictors: int
    queued_jobs: int
    running_jobs: int
    deployments: int = 0
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
    """of the operating system, for what an operator did by command; worker, for how a calibration ended"""
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
