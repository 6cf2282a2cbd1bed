"""What the bounds raise: always a ``ValueError``, always a sentence that says what to change."""


class BoundsError(ValueError):
    """Base of every error raised by ``core.bounds``."""


class DomainError(BoundsError):
    """An argument lies outside the domain on which the statement holds."""


class TooFewPointsError(BoundsError):
    """The calibration set is too small for the promise asked of it.

    ``needed`` is the smallest number of calibration points that would do.
    """

    def __init__(self, message: str, needed: int) -> None:
        super().__init__(message)
        self.needed = needed
