"""What a command raises when the user can mend it."""


class CommandError(Exception):
    """A sentence for the user; the command line prints it and exits with code 2."""
