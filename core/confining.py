"""Limits that a process sets itself before it touches what a stranger sent."""

import contextlib


def confine(memory: int, seconds: int) -> None:
    """So many bytes of address space and seconds of CPU time at most, where the system can be asked for that."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 (not on Windows)

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
