"""Limits that a process sets itself before it touches what a stranger sent."""

import contextlib


def confine(memory: int, seconds: int) -> None:
    """So many bytes of address space and seconds of CPU time at most, and no image of memory on disk if it breaks.

    Where the system cannot be asked for that, nothing happens.
    """
    try:
        import resource  # noqa: PLC0415 (not on Windows)
    except ImportError:
        return
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: seconds, resource.RLIMIT_AS: memory}
    for what, limit in limits.items():
        with contextlib.suppress(ValueError, OverflowError, OSError):
            resource.setrlimit(what, (limit, limit))
