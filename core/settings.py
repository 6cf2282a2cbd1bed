"""Settings of a deployment: one frozen value, read once from the environment's mapping by whoever starts a process."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from certiset.core.errors import SettingsError

PREFIX = "CERTISET_"
_MAY_BE_ZERO = (
    "threads",
    "rate_limit",
    "stale_key_seconds",
    "wrong_keys",
    "batch_seconds",
    "max_connections",
    "max_connections_per_address",
)
_QUOTA = "quota_"
_LONGEST_ISSUER = 200
_FILE = "_FILE"


def _secret() -> Any:
    """A setting that may hold a secret: ``CERTISET_…_FILE`` names a file with its value."""
    return dataclasses.field(default="", metadata={"secret": True})


@dataclass(frozen=True)
class Settings:
    home: Path = Path("var")
    """folder with all state of the embedded default"""
    database_url: str = _secret()
    """SQLAlchemy URL; empty: SQLite in home"""
    broker_url: str = _secret()
    """Celery broker, such as redis://host:6379/0; empty: the embedded broker, files in home, no server"""
    database_seconds: float = 5.0
    """how long anybody waits for the database before the answer is 503"""
    artifacts_url: str = _secret()
    """fsspec URL for arrays, members and models, such as s3://bucket/prefix; empty: a folder in home"""
    artifacts_seconds: float = 10.0
    """how long anybody waits for a remote artifact store, in addition to a second for each MiB"""
    max_upload_bytes: int = 2**30
    """maximum size of an uploaded file"""
    max_unpacked_bytes: int = 2**32
    """maximum size of a file's arrays in memory"""
    max_predict_bytes: int = 2**27
    """maximum size of one prediction request"""
    max_predict_rows: int = 200_000
    """maximum number of rows in one prediction request"""
    api_keys: str = _secret()
    """keys accepted in addition to those in the database, comma-separated; each has every scope of tenant 'default'"""
    secret_file: Path = Path()
    """the secret behind stored keys and prediction ids, shared by all API replicas; empty: HOME/secret"""
    signing_key_file: Path = Path()
    """Ed25519 key, PEM, that signs certificates, shared by all workers; empty: HOME/signing.pem"""
    retired_keys: str = ""
    """public keys of earlier signing keys, in base64, comma-separated; their certificates still verify"""
    issuer: str = ""
    """who issues certificates here, as they state it, such as the name of an organisation; empty: nothing is stated"""
    rate_limit: int = 60_000
    """requests per minute and key, on each API process; 0: no limit"""
    audit_seconds: float = 60.0
    """refused calls of one kind within this time are one row of the audit log, with their number"""
    stale_key_seconds: float = 300.0
    """a key that was valid this long ago is still accepted while the database does not answer"""
    wrong_keys: int = 20
    """wrong keys that an address may try in a minute, on each API process; 0: no limit"""
    header_seconds: float = 10.0
    """time for the headers of a request"""
    body_seconds: float = 30.0
    """time for the body of a request, in addition to that for its bytes at the least pace"""
    body_pace: int = 2**14
    """least pace of a request's body, in bytes per second"""
    max_connections: int = 4096
    """open connections of an API process; 0: as many as it may open files, but for some in reserve"""
    max_connections_per_address: int = 512
    """open connections of one client address, which behind a proxy is the proxy's; 0: no limit"""
    cache_bytes: int = 2**31
    """memory for cached predictors"""
    max_predict_numbers: int = 2**28
    """maximum number of outputs, rows times classes or targets, in one prediction response"""
    body_bytes: int = 2**29
    """request bodies in memory at the same time, on each API process; one tenant: half of it"""
    upload_bytes: int = 2**34
    """uploads on their way to disk at the same time, on each API process; one tenant: half of it"""
    queue_numbers: int = 2**28
    """numbers, inputs and outputs, that may wait for inference before requests are refused; one tenant: half of it"""
    batch_seconds: float = 600.0
    """large requests have a process of their own, which ends after this time without any; 0: they have none"""
    monitor_eta: float = 0.01
    """probability of contradicting a correct certificate"""
    device: str = "auto"
    """auto: all visible GPUs, or the CPU if there are none; cpu: CPU only; cuda: refuse to start without a GPU"""
    threads: int = 0
    """CPU threads per fit; 0: as many as the container's limits allow, shared between the devices"""
    lease_seconds: float = 30.0
    """a worker that is silent for this long loses its job"""
    sweep_seconds: float = 5.0
    """how often a worker looks for lost jobs"""
    message_seconds: float = 30.0
    """a job that no worker has taken for this long is announced again"""
    max_attempts: int = 3
    """attempts before a job fails"""
    retry_seconds: float = 5.0
    """pause before the second attempt; doubles with each further attempt"""
    fit_seconds: float = 3600.0
    """time limit of a fit, or of a batch, which then fails and is not tried again"""
    graph_bytes: int = 2 * 2**30
    """address space of a process that runs a model's ONNX graph"""
    graph_seconds: float = 10.0
    """time limit of a graph for the rows of one call"""
    graph_processes: int = 2
    """processes for ONNX graphs per tenant, on each API process"""
    orphan_seconds: float = 3600.0
    """files that no record refers to are deleted once they are this old"""
    quota_bytes: int = 2**38
    """bytes of the stored data, models, predictors and batches of one tenant; 0: no limit, as for all quotas"""
    quota_rows: int = 10**9
    """rows of all data sets of one tenant"""
    quota_datasets: int = 10_000
    """data sets of one tenant"""
    quota_models: int = 10_000
    """models of one tenant"""
    quota_predictors: int = 10_000
    """predictors of one tenant"""
    quota_queued_jobs: int = 1000
    """calibrations and batches of one tenant that may wait for a worker"""
    quota_running_jobs: int = 0
    """calibrations and batches of one tenant that run at the same time; further ones wait"""
    quota_deployments: int = 1000
    """names for predictors of one tenant"""
    collected_days: float = 90.0
    """after so many days inputs that were reported for a deployment, and data sets made of them, are deleted"""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Reads ``CERTISET_*``; an unusable value is an error that names its variable.

        What is secret may be in a file instead, which ``CERTISET_…_FILE`` names and which is read here, once.
        """
        values = {}
        for field in fields(cls):
            name = PREFIX + field.name.upper()
            text = environment.get(name, "")
            file = environment.get(name + _FILE, "") if field.metadata.get("secret") else ""
            if text and file:
                raise SettingsError(f"{name} and {name}{_FILE} are both set: keep one of them.")
            text = _content(name + _FILE, Path(file)) if file else text
            if text:
                values[field.name] = _value(name, text, type(field.default))
        return cls(**values)

    @classmethod
    def variables(cls) -> frozenset[str]:
        """Every variable that `from_environment` reads."""
        names = [PREFIX + field.name.upper() for field in fields(cls)]
        secret = [PREFIX + field.name.upper() + _FILE for field in fields(cls) if field.metadata.get("secret")]
        return frozenset(names + secret)

    def to_environment(self) -> dict[str, str]:
        """What `from_environment` reads back."""
        return {PREFIX + field.name.upper(): str(getattr(self, field.name)) for field in fields(self)}

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise SettingsError(f"{PREFIX}{field.name.upper()} must be finite, not {value}.")
            if isinstance(value, int | float) and (value < 0 or (value == 0 and not _may_be_zero(field.name))):
                raise SettingsError(f"{PREFIX}{field.name.upper()} must be positive, not {value}.")
        if self.device not in ("auto", "cpu", "cuda"):
            raise SettingsError(f"{PREFIX}DEVICE must be auto, cpu or cuda, not {self.device!r}.")
        if len(self.issuer) > _LONGEST_ISSUER or not self.issuer.isprintable():
            raise SettingsError(f"{PREFIX}ISSUER must be printable text of at most {_LONGEST_ISSUER} characters.")
        if self.monitor_eta >= 1:
            raise SettingsError(f"{PREFIX}MONITOR_ETA must be below 1, not {self.monitor_eta}.")

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self._default_file}"

    @property
    def embedded_file(self) -> Path | None:
        """The default database's file; None if another database is used."""
        return self._default_file if self.embedded_database else None

    @property
    def _default_file(self) -> Path:
        return self.home.absolute() / "certiset.db"

    @property
    def artifacts(self) -> str:
        return self.artifacts_url or str(self.home.absolute() / "artifacts")

    @property
    def secret(self) -> Path:
        return self.secret_file if self.secret_file != Path() else self.home / "secret"

    @property
    def signing_key(self) -> Path:
        return self.signing_key_file if self.signing_key_file != Path() else self.home / "signing.pem"

    @property
    def scratch(self) -> Path:
        """Where files lie that last as long as one request."""
        return self.home / "uploads"

    @property
    def worker_scratch(self) -> Path:
        """The same for as long as one job; the only folder, beside the artifacts, that a fitting process may write."""
        return self.home.absolute() / "work"

    @property
    def embedded_database(self) -> bool:
        """Whether the database is the default one, which is migrated automatically."""
        return not self.database_url


def _may_be_zero(name: str) -> bool:
    return name in _MAY_BE_ZERO or name.startswith(_QUOTA)


def _value(name: str, text: str, kind: Any) -> Any:
    if issubclass(kind, Path):
        return Path(text)
    try:
        return kind(text)
    except ValueError:
        meant = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{name} must be {meant}, not {text!r}.") from None


def _content(name: str, file: Path) -> str:
    """A secret's file: one line, which editors and ``echo`` end with a newline that is not part of it."""
    try:
        text = file.read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise SettingsError(f"The file {file} that {name} names cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"The file {file} that {name} names is not text.") from None
    if not text.strip():
        raise SettingsError(f"The file {file} that {name} names is empty.")
    return text
