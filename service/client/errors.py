"""What the client raises: the server's own sentence, or that nobody answers."""

from certiset.core.errors import CertisetError
from certiset.core.resources import Problem


class ClientError(CertisetError):
    """Base of all errors of the client."""

    code = "client_error"


class ApiError(ClientError):
    """The server refused; ``str`` is its sentence."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail or problem.title)
        self.status, self.title, self.detail = problem.status, problem.title, problem.detail
        self.code = problem.code
        """the kind of error, which never changes; unknown from something that is not certiset"""
        self.errors = problem.errors or ()
        """the fields at fault, as they were written"""


class UnreachableError(ClientError, ConnectionError):
    """Nobody answers at the address, or not in time."""

    code = "unreachable"
