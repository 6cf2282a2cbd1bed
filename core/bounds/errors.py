"""What the bounds raise, and the base of every error of certiset: it stands here because the bounds import nothing."""


class CertisetError(Exception):
    """Base of every error that certiset raises on purpose: a sentence that the user can act on."""

    code: str = "error"
    """names the kind of error, and never changes"""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field
        """the argument or option at fault, as the caller wrote it, such as ``prior.split``"""


class BoundsError(CertisetError, ValueError):
    """Base of every error raised by ``certiset.core.bounds``."""

    code = "out_of_domain"


class DomainError(BoundsError):
    """An argument lies outside the domain on which the statement holds."""


class TooFewPointsError(BoundsError):
    """The calibration set is too small for the promise asked of it.

    ``needed`` is the smallest number of calibration points that is enough.
    """

    code = "too_few_points"

    def __init__(self, message: str, needed: int, *, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.needed = needed


class ExhaustedClassError(BoundsError):
    """A class was drawn more often than it has rows: there is no certificate from these rows, and no second try."""

    code = "class_exhausted"
