"""Every error that certiset raises on purpose, apart from those of the bounds, in one hierarchy.

Each class has a ``code`` that never changes, and each error may name the ``field`` at fault. `certiset.service.http`
has the one table from classes to HTTP statuses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from certiset.core.bounds.errors import CertisetError

__all__ = [
    "ArtifactsReadOnlyError",
    "ArtifactsUnavailableError",
    "CertisetError",
    "ConflictError",
    "DamagedCertificateError",
    "DamagedFileError",
    "DataError",
    "DatabaseBusyError",
    "DatabaseReadOnlyError",
    "DatabaseUnavailableError",
    "DuplicateError",
    "FieldError",
    "FileKindError",
    "FitError",
    "LargerThanQuotaError",
    "ModelError",
    "NotFoundError",
    "OptionError",
    "OtherArithmeticError",
    "QuotaExceededError",
    "SettingsError",
    "StoppedError",
    "StoreError",
    "StoreFullError",
    "TooLargeError",
    "UnavailableError",
    "UncoveredError",
    "VersionError",
    "WithdrawnError",
    "first_line",
]


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one field of an input."""

    field: str
    message: str


class DataError(CertisetError, ValueError):
    """The data cannot be used: not finite, of the wrong shape, or without information."""

    code = "invalid_data"


class FileKindError(DataError):
    """No reader is registered for this kind of file."""

    code = "unsupported_file"


class TooLargeError(DataError):
    """More at once than is accepted."""

    code = "too_large"


class OptionError(CertisetError, ValueError):
    """An option is unknown, invalid, or cannot be combined with the others."""

    code = "invalid_option"

    def __init__(self, message: str, *, field: str | None = None, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(message, field=field)
        self.errors = tuple(errors) or ((FieldError(field, message),) if field else ())
        """every field that is wrong, the first one included"""


class ModelError(CertisetError, ValueError):
    """The model's manifest or weights cannot be used."""

    code = "invalid_model"


class StoppedError(CertisetError, RuntimeError):
    """The fit stopped because it was asked to."""

    code = "stopped"


class FitError(CertisetError, RuntimeError):
    """A fit that ended without a predictor, for a reason that lies in the data and the options."""

    code = "fit_failed"


class UncoveredError(CertisetError, RuntimeError):
    """The sets that would be served miss more of the calibration rows than their thresholds allow: no certificate."""

    code = "uncovered"


class DamagedFileError(CertisetError, ValueError):
    """A stored file does not have the content that was written."""

    code = "damaged_file"


class DamagedCertificateError(DamagedFileError):
    """A stored certificate is not as it was signed: neither shown nor served."""

    code = "damaged_certificate"


class OtherArithmeticError(DamagedFileError):
    """On this machine the predictor computes other numbers than those that were certified."""

    code = "other_arithmetic"


class SettingsError(CertisetError, RuntimeError):
    """A setting of the deployment is invalid."""

    code = "invalid_settings"


class NotFoundError(CertisetError, LookupError):
    """There is no such record, or it belongs to another tenant."""

    code = "not_found"


class WithdrawnError(NotFoundError):
    """There was such a predictor, and its owner has deleted it."""

    code = "withdrawn"


class QuotaExceededError(CertisetError, RuntimeError):
    """The tenant has as much as it may have: something must be deleted, or end, first."""

    code = "quota_exceeded"


class LargerThanQuotaError(QuotaExceededError):
    """One object is larger than all that the tenant may have."""

    code = "larger_than_quota"


class ConflictError(CertisetError, RuntimeError):
    """The request cannot be carried out in the present state of the record."""

    code = "conflict"


class VersionError(ConflictError):
    """The record has changed since the caller last saw it."""

    code = "version_mismatch"


class StoreError(CertisetError, RuntimeError):
    """The database or the artifact store cannot do what was asked."""

    code = "store_error"


class DuplicateError(StoreError):
    """A record with the same unique key exists."""

    code = "duplicate"


class StoreFullError(StoreError):
    """The artifact store or the disk has no space left."""

    code = "store_full"


class UnavailableError(StoreError):
    """A part of the deployment cannot be reached at the moment; the same call may succeed later."""

    code = "unavailable"


class DatabaseUnavailableError(UnavailableError):
    """The connection to the database was lost or cannot be made."""

    code = "database_unavailable"


class DatabaseBusyError(UnavailableError):
    """The database is reachable, but a lock, a free connection or the time for a statement ran out."""

    code = "database_busy"


class DatabaseReadOnlyError(UnavailableError):
    """The database can be read, but accepts no changes."""

    code = "database_read_only"


class ArtifactsUnavailableError(UnavailableError):
    """The artifact store cannot be read or written at the moment."""

    code = "artifacts_unavailable"


class ArtifactsReadOnlyError(ArtifactsUnavailableError):
    """The artifact store can be read, but not written."""

    code = "artifacts_read_only"


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or its type if the message is empty."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__
