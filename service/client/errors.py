"""What the client raises: the server's own sentence, or that nobody answers."""

from collections.abc import Sequence
from dataclasses import dataclass


class ClientError(Exception):
    """Base of all errors of the client."""


@dataclass(frozen=True)
class FieldError:
    where: str
    message: str


class ApiError(ClientError):
    """The server refused; ``str`` is its sentence."""

    def __init__(self, status: int, title: str, detail: str, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(detail or title)
        self.status, self.title, self.detail, self.errors = status, title, detail, tuple(errors)


class UnreachableError(ClientError, ConnectionError):
    """Nobody answers at the address, or not in time."""
