"""What the machine, or the container, lets a process have: open files, memory, processes, disk."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from certiset.core.settings import Settings
from certiset.service.doctor.finding import Finding

_FILES = 4096
"""connections and files of a busy API"""
_PROCESSES = 256
_BESIDE_THE_CACHE = 2**30
"""bytes that an API needs beside its predictors"""
_DISK = 2**30
_CGROUP = Path("/sys/fs/cgroup")


def check_limits(settings: Settings, cgroup: Path = _CGROUP) -> Iterator[Finding]:
    yield _open_files()
    yield _memory(settings, cgroup)
    yield _processes(cgroup)
    yield _disk(settings.home)


def _open_files() -> Finding:
    try:
        import resource  # noqa: PLC0415 (not on Windows)
    except ImportError:
        return Finding("open files", "ok", "this system has no limit")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _FILES:
        more = f"at most {hard}" if hard != resource.RLIM_INFINITY else "no limit"
        advice = f"raise it with 'ulimit -n {_FILES}' or LimitNOFILE ({more} is allowed)."
        return Finding("open files", "warning", f"{soft} are few for many connections: {advice}")
    return Finding("open files", "ok", "no limit" if soft == resource.RLIM_INFINITY else f"up to {soft}")


def _memory(settings: Settings, cgroup: Path) -> Finding:
    limits = [_number(cgroup / "memory.max"), _number(cgroup / "memory" / "memory.limit_in_bytes"), _installed()]
    known = [limit for limit in limits if limit is not None]
    if not known:
        return Finding("memory", "warning", "How much there is cannot be read here.")
    least, needed = min(known), settings.cache_bytes + _BESIDE_THE_CACHE
    if least < needed:
        advice = f"give it {_size(needed)}, or lower CERTISET_CACHE_BYTES."
        return Finding(
            "memory", "warning", f"{_size(least)} are few for a cache of {_size(settings.cache_bytes)}: {advice}"
        )
    return Finding("memory", "ok", _size(least))


def _processes(cgroup: Path) -> Finding:
    limits = [_number(cgroup / "pids.max"), _number(cgroup / "pids" / "pids.max")]
    least = min((limit for limit in limits if limit is not None), default=None)
    if least is not None and least < _PROCESSES:
        return Finding(
            "processes", "warning", f"{least} are few for threads and confined processes: allow {_PROCESSES}."
        )
    return Finding("processes", "ok", "no limit of a container" if least is None else f"up to {least}")


def _disk(home: Path) -> Finding:
    there = next((folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists()), Path("/"))
    free = shutil.disk_usage(there).free
    if free < _DISK:
        return Finding(
            "disk", "warning", f"Only {_size(free)} are free at {home}: make room for uploads and artifacts."
        )
    return Finding("disk", "ok", f"{_size(free)} free at {home}")


def _number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    # The old interface says "no limit" by a number beyond any machine's memory.
    return int(text) if text.isdigit() and int(text) < 2**60 else None


def _installed() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemTotal:"))
    except (OSError, StopIteration, ValueError):
        return None


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"
