"""What a command raises when the user can mend it."""

BAD_INPUT = 2
NO_SERVER = 3
INTERRUPTED = 130


class CommandError(Exception):
    """A sentence for the user; the command line prints it and exits with the code."""

    def __init__(self, sentence: str, code: int = BAD_INPUT) -> None:
        super().__init__(sentence)
        self.code = code
