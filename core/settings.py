"""Settings of a deployment: one frozen value, read once from the environment's mapping by whoever starts a process."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from core.errors import SettingsError

PREFIX = "CERTISET_"


@dataclass(frozen=True)
class Settings:
    home: Path = Path("var")
    """all state of the embedded default lies below this folder"""
    database_url: str = ""
    """SQLAlchemy URL; empty: SQLite in home"""
    broker_url: str = ""
    """Celery broker, such as redis://host:6379/0; empty: the embedded broker, files in home, no server"""
    artifacts_url: str = ""
    """fsspec URL for arrays, members and models, such as s3://bucket/prefix; empty: a folder in home"""
    max_upload_bytes: int = 2**30
    """largest file that is accepted"""
    max_unpacked_bytes: int = 2**32
    """largest size of a file's arrays in memory"""
    device: str = "auto"
    """auto: every GPU that is visible, else the CPU; cpu: the CPU alone"""
    threads: int = 0
    """CPU threads of a fit; 0: what the container's limits allow, shared between the devices"""
    lease_seconds: float = 30.0
    """a worker that is silent for this long has lost its job"""
    sweep_seconds: float = 5.0
    """how often a worker looks for lost jobs"""
    message_seconds: float = 30.0
    """a job that nobody took for this long is announced again"""
    max_attempts: int = 3
    """after so many attempts a calibration has failed"""
    retry_seconds: float = 5.0
    """pause before the second attempt; doubles with each further one"""
    fit_seconds: float = 3600.0
    """time limit of one attempt"""
    orphan_seconds: float = 3600.0
    """files that no record names are removed when they are this old"""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Reads ``CERTISET_*``; an unusable value is an error that names its variable."""
        values = {}
        for field in fields(cls):
            name = PREFIX + field.name.upper()
            if environment.get(name, "") != "":
                values[field.name] = _value(name, environment[name], type(field.default))
        return cls(**values)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and (value < 0 or (value == 0 and field.name != "threads")):
                raise SettingsError(f"{PREFIX}{field.name.upper()} must be positive, not {value}.")

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.home.absolute() / 'certiset.db'}"

    @property
    def artifacts(self) -> str:
        return self.artifacts_url or str(self.home.absolute() / "artifacts")

    @property
    def embedded_database(self) -> bool:
        """Whether the database is the default one, which is migrated without being asked."""
        return not self.database_url


def _value(name: str, text: str, kind: Any) -> Any:
    if issubclass(kind, Path):
        return Path(text)
    try:
        return kind(text)
    except ValueError:
        meant = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{name} must be {meant}, not {text!r}.") from None
