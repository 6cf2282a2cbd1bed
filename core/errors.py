"""What `core` raises, apart from the bounds, which have errors of their own: always a sentence a user can act on."""


class CertisetError(Exception):
    """Base of every error raised by `core` outside `core.bounds`."""


class DataError(CertisetError, ValueError):
    """The data given cannot be used: not finite, of the wrong shape, or without information."""


class OptionError(CertisetError, ValueError):
    """An option of the fit is unknown or does not go with the others."""


class ModelError(CertisetError, ValueError):
    """The model's manifest or weights cannot be used."""


class StoppedError(CertisetError, RuntimeError):
    """The fit was asked to stop, and did."""


class DamagedFileError(CertisetError, ValueError):
    """A stored predictor cannot be read back."""
