"""What a command raises when the user can fix it."""

from certiset.core.errors import CertisetError

BAD_INPUT = 2
NO_SERVER = 3
INTERRUPTED = 130


class CommandError(CertisetError):
    """A sentence for the user; the command line prints it and exits with the code."""

    code = "command_failed"

    def __init__(self, sentence: str, exit_code: int = BAD_INPUT) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
