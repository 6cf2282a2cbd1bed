"""The tables. Times are seconds since 1970 by the database's clock; files are named by the SHA-256 of their content."""

from typing import Any, get_args

from sqlalchemy import BigInteger, CheckConstraint, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from certiset.core.resources import CalibrationStatus
from certiset.core.store.clock import now
from certiset.core.store.job_columns import JobColumns, job_constraints
from certiset.core.store.record_base import Id as _Id
from certiset.core.store.record_base import Record

STATUSES: tuple[CalibrationStatus, ...] = get_args(CalibrationStatus)


class ApiKey(Record):
    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(_Id, primary_key=True)
    tenant: Mapped[str] = mapped_column(_Id)
    """whose records the key can access"""
    name: Mapped[str] = mapped_column(String(200))
    scopes: Mapped[list[str]]
    """of read, write, admin, operator"""
    digest: Mapped[str] = mapped_column(_Id, unique=True)
    """HMAC of the secret, which itself is never stored"""
    created_at: Mapped[float] = mapped_column(default=now())
    revoked_at: Mapped[float | None]


class Tenant(Record):
    """Whose turn it is, and what an operator has allowed. A tenant without a row has every quota of the settings.

    Its row is the lock under which a tenant's records are added and deleted.
    """

    __tablename__ = "tenants"

    name: Mapped[str] = mapped_column(_Id, primary_key=True)
    served_at: Mapped[float] = mapped_column(default=0.0)
    """when a worker last began one of its calibrations"""
    quotas: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """by name, where they differ from the settings; 0: no limit"""
    erasing_since: Mapped[float | None]
    """from then on nothing is added"""
    row_key: Mapped[str | None] = mapped_column(_Id)
    """the artifact with the key of its row hashes: whoever has only the database cannot try rows out"""


class Dataset(Record):
    __tablename__ = "datasets"
    __table_args__ = (UniqueConstraint("tenant", "sha256", "target"),)

    id: Mapped[str] = mapped_column(_Id, primary_key=True)
    tenant: Mapped[str] = mapped_column(_Id)
    name: Mapped[str] = mapped_column(String(200))
    sha256: Mapped[str] = mapped_column(_Id)
    """of the file as it was uploaded"""
    target: Mapped[str] = mapped_column(String(1000))
    """the column or columns that were read as y; empty for inputs without truths"""
    artifact: Mapped[str] = mapped_column(_Id, index=True)
    """x and y in a safetensors file"""
    rows: Mapped[int] = mapped_column(BigInteger)
    x_shape: Mapped[list[int]]
    """of one row"""
    y_kind: Mapped[str] = mapped_column(String(20))
    """labels, numbers or vectors; none for inputs without truths"""
    bytes: Mapped[int] = mapped_column(BigInteger)
    """of the file as it was uploaded"""
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    """of the artifact"""
    created_at: Mapped[float] = mapped_column(default=now())


class ModelRecord(Record):
    __tablename__ = "models"
    __table_args__ = (UniqueConstraint("tenant", "sha256"),)

    id: Mapped[str] = mapped_column(_Id, primary_key=True)
    tenant: Mapped[str] = mapped_column(_Id)
    name: Mapped[str] = mapped_column(String(200))
    task: Mapped[str] = mapped_column(String(20))
    manifest: Mapped[dict[str, Any]]
    sha256: Mapped[str] = mapped_column(_Id)
    """of the manifest and every weight, as certificates state it"""
    artifact: Mapped[str] = mapped_column(_Id, index=True)
    """all weights in a safetensors file"""
    bytes: Mapped[int] = mapped_column(BigInteger)
    """of the artifact"""
    rows: Mapped[str | None] = mapped_column(String(20))
    """proved or one_by_one; None: not judged since this is known"""
    rows_reason: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[float] = mapped_column(default=now())


class Calibration(JobColumns, Record):
    __tablename__ = "calibrations"
    __table_args__ = (*job_constraints("certificate_id"), Index(None, "tenant", "predictor_id", "id"))
    noun = "calibration"
    doing = "fitting this calibration"

    dataset_id: Mapped[str] = mapped_column(_Id)
    model_id: Mapped[str] = mapped_column(_Id)
    dataset_artifact: Mapped[str] = mapped_column(_Id)
    """kept here, so that a dataset may be deleted while its fit runs"""
    model_artifact: Mapped[str] = mapped_column(_Id)
    target_dataset_id: Mapped[str | None] = mapped_column(_Id)
    """inputs of another population, for which weights are estimated"""
    target_artifact: Mapped[str | None] = mapped_column(_Id)
    manifest: Mapped[dict[str, Any]]
    options: Mapped[dict[str, Any]]
    predictor_id: Mapped[str | None] = mapped_column(_Id)
    certificate_id: Mapped[str | None] = mapped_column(_Id)


class ReportRecord(Record):
    """One progress report of a fit; the newest ones of each calibration are kept."""

    __tablename__ = "reports"

    calibration_id: Mapped[str] = mapped_column(_Id, primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """as `Calibration.reports` counted it"""
    report: Mapped[dict[str, Any]]


class PredictorRecord(Record):
    __tablename__ = "predictors"

    tenant: Mapped[str] = mapped_column(_Id, primary_key=True)
    id: Mapped[str] = mapped_column(_Id, primary_key=True)
    """derived from the certificate's content: an identical fit is the same predictor"""
    calibration_id: Mapped[str] = mapped_column(_Id)
    """the first one that produced it"""
    name: Mapped[str] = mapped_column(String(200))
    task: Mapped[str] = mapped_column(String(20))
    score: Mapped[str] = mapped_column(String(40))
    members: Mapped[int]
    description: Mapped[dict[str, Any]]
    """manifest and scoring: how to read the artifact's tensors"""
    artifact: Mapped[str] = mapped_column(_Id, index=True)
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    """of the artifact"""
    certificate_id: Mapped[str] = mapped_column(_Id)
    serve: Mapped[str] = mapped_column(String(20), default="random")
    """random: a member is drawn for each input; best: always the member with the smallest certified size"""
    created_at: Mapped[float] = mapped_column(default=now())
    imported: Mapped[bool] = mapped_column(default=False, server_default=false())
    """whether it was fitted elsewhere, and taken over from its files"""
    withdrawn_at: Mapped[float | None]
    """when its owner deleted it: no longer served, and its artifact is gone; the certificate stays"""


class CertificateRecord(Record):
    __tablename__ = "certificates"
    __table_args__ = (Index(None, "tenant", "predictor_id"),)

    tenant: Mapped[str] = mapped_column(_Id, primary_key=True)
    id: Mapped[str] = mapped_column(_Id, primary_key=True)
    predictor_id: Mapped[str] = mapped_column(_Id)
    dataset_id: Mapped[str] = mapped_column(_Id)
    model_id: Mapped[str] = mapped_column(_Id)
    digest: Mapped[str] = mapped_column(_Id)
    alpha: Mapped[float]
    bound: Mapped[str] = mapped_column(String(20))
    document: Mapped[str] = mapped_column(Text)
    """the certificate as JSON text, byte for byte as it was issued"""
    created_at: Mapped[float] = mapped_column(default=now())


class OutcomeRecord(Record):
    """An outcome: its prediction's number and its case, so that it counts once, and the misses so far."""

    __tablename__ = "outcomes"
    __table_args__ = (
        Index(None, "tenant", "predictor_id", "number"),
        Index(None, "tenant", "predictor_id", "case_hash", unique=True),
        CheckConstraint("(state = 'counted') = (number > 0)", name="state"),
    )

    tenant: Mapped[str] = mapped_column(_Id, primary_key=True)
    prediction: Mapped[str] = mapped_column(_Id, primary_key=True)
    """the random number in the prediction's id"""
    predictor_id: Mapped[str] = mapped_column(_Id)
    state: Mapped[str] = mapped_column(String(10), default="counted")
    """counted; repeated: another of the same case counts; annulled: its truth was wrong"""
    number: Mapped[int] = mapped_column(BigInteger)
    """counts the outcomes of a predictor from 1, without gaps; 0 for one that does not count"""
    misses: Mapped[int] = mapped_column(BigInteger)
    """among the outcomes so far, this one included"""
    case_hash: Mapped[str | None] = mapped_column(String(16))
    """of the case, or of the input, that counts once"""
    size: Mapped[float | None]
    """of its set, as a share of the certificate's cap"""
    size_promised: Mapped[float | None]
    """the mean that was certified for it, likewise"""
    group_place: Mapped[int | None]
    """of its input's group, or its class, among those with a threshold"""
    created_at: Mapped[float] = mapped_column(default=now())


class Monitor(Record):
    """What the outcomes so far say about a predictor's certificate."""

    __tablename__ = "monitors"

    tenant: Mapped[str] = mapped_column(_Id, primary_key=True)
    predictor_id: Mapped[str] = mapped_column(_Id, primary_key=True)
    outcomes: Mapped[int] = mapped_column(BigInteger, default=0)
    misses: Mapped[int] = mapped_column(BigInteger, default=0)
    log_peak: Mapped[float] = mapped_column(default=0.0)
    """logarithm of the largest capital so far"""
    contradicted_at: Mapped[float | None]
    """by misses, or by sizes"""
    issued: Mapped[int] = mapped_column(BigInteger, default=0)
    """sets that were served, replays apart; counted since revision 0009"""
    reported: Mapped[int] = mapped_column(BigInteger, default=0)
    """predictions whose outcome was reported since then, whether it counts or not"""
    sizes: Mapped[int] = mapped_column(BigInteger, default=0)
    """sets whose size was watched"""
    size_total: Mapped[float] = mapped_column(default=0.0)
    """sum of their sizes, as shares of the cap"""
    size_log_capitals: Mapped[list[float] | None]
    """of each stake of the bet against the certified size"""
    size_log_peak: Mapped[float] = mapped_column(default=0.0)
    groups: Mapped[dict[str, Any] | None]
    """by the place of each group: outcomes, misses, and the logarithm of its largest capital"""


class AuditRecord(Record):
    """A change, or refusals of one kind that were counted. Triggers refuse to change or delete a row."""

    __tablename__ = "audit"
    __table_args__ = (Index(None, "tenant", "id"), Index(None, "object_id"), Index(None, "at"))

    id: Mapped[str] = mapped_column(_Id, primary_key=True)
    at: Mapped[float] = mapped_column(default=now())
    """when it was changed, or last refused"""
    action: Mapped[str] = mapped_column(String(64))
    """such as dataset.create"""
    result: Mapped[str] = mapped_column(String(20))
    """ok, refused (4xx) or failed (5xx)"""
    status: Mapped[int | None]
    code: Mapped[str | None] = mapped_column(String(64))
    """of the problem, if it was refused"""
    tenant: Mapped[str | None] = mapped_column(_Id)
    """whose records it is about; None: the caller is unknown"""
    key_id: Mapped[str | None] = mapped_column(_Id)
    user: Mapped[str | None] = mapped_column(_Id)
    """of the operating system, for what an operator does by command"""
    address: Mapped[str | None] = mapped_column(_Id)
    object_kind: Mapped[str | None] = mapped_column(String(20))
    object_id: Mapped[str | None] = mapped_column(_Id)
    count: Mapped[int] = mapped_column(BigInteger, default=1)
    first_at: Mapped[float | None]
    """of several refusals, when the first was"""
    details: Mapped[dict[str, Any] | None]
