"""What `core` raises, apart from the bounds, which have errors of their own: always a sentence a user can act on."""


def first_line(error: BaseException) -> str:
    """The first line of what an error says, or its kind if it says nothing."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


class CertisetError(Exception):
    """Base of every error raised by `core` outside `core.bounds`."""


class DataError(CertisetError, ValueError):
    """The data given cannot be used: not finite, of the wrong shape, or without information."""


class FileKindError(DataError):
    """The file is of a kind that nobody here reads."""


class OptionError(CertisetError, ValueError):
    """An option of the fit is unknown or does not go with the others."""


class ModelError(CertisetError, ValueError):
    """The model's manifest or weights cannot be used."""


class StoppedError(CertisetError, RuntimeError):
    """The fit was asked to stop, and did."""


class DamagedFileError(CertisetError, ValueError):
    """A stored file is not what was written."""


class SettingsError(CertisetError, ValueError):
    """A setting of the deployment cannot be used."""


class StoreError(CertisetError, RuntimeError):
    """The store cannot do what was asked: out of room, not migrated, out of reach."""


class NotFoundError(CertisetError, LookupError):
    """There is no such record, or it belongs to somebody else."""
