"""What a process that handles strangers' bytes goes without: memory and time beyond limits, files, network, secrets.

``python -m certiset.core.confinement SPEC MODULE`` confines itself and then runs the module. It is the first thing that
such a process does, and needs the standard library alone: neither a namespace nor Landlock reaches threads that run
already, and numerical libraries start threads as soon as they are imported.
"""

import contextlib
import ctypes
import json
import os
import runpy
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from certiset.core import landlock

_GRACE_SECONDS = 5
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/self",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/dev/urandom",
    "/dev/zero",
)
"""what the interpreter and numerical libraries read; nothing here is a secret of the deployment"""
_FOR_DEVICES = ("/dev", "/proc", "/sys", "/run/nvidia-persistenced")
_FOR_NETWORK = ("/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki", "/run/systemd/resolve")
_KEPT = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")


@dataclass(frozen=True)
class Confinement:
    memory: int | None = None
    """bytes of address space"""
    cpu_seconds: int | None = None
    largest_file: int | None = None
    """bytes that it may write to one file"""
    niceness: int = 0
    readable: tuple[str, ...] = ()
    """files and folders beside the interpreter and its libraries"""
    writable: tuple[str, ...] = ()
    network: bool = False
    devices: bool = False
    """whether it may use GPUs"""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Confinement":
        fields = json.loads(text)
        paths = {name: tuple(fields[name]) for name in ("readable", "writable")}
        return cls(**{**fields, **paths})

    def apply(self) -> None:
        """To this process, as far as the system can; what it cannot is left out, and the rest still holds."""
        self.limit()
        if not self.network:
            _leave_network()
        devices = _FOR_DEVICES if self.devices else ()
        landlock.restrict(
            readable=(*_SYSTEM, *_python(), *(_FOR_NETWORK if self.network else ()), *self.readable),
            listable=[entry for entry in sys.path if entry],
            writable=("/dev/null", *devices, *self.writable),
            network=self.network,
        )

    def limit(self) -> None:
        """Memory, time, sizes of files and priority alone. No core file is written: it would hold the data."""
        try:
            import resource  # noqa: PLC0415 (not on Windows)
        except ImportError:
            return
        if self.niceness:
            os.nice(self.niceness)
        # A process that has used its CPU time is told so by SIGXCPU, and killed only if it goes on.
        more = None if self.cpu_seconds is None else self.cpu_seconds + _GRACE_SECONDS
        limits = {
            resource.RLIMIT_CORE: (0, 0),
            resource.RLIMIT_CPU: (self.cpu_seconds, more),
            resource.RLIMIT_AS: (self.memory, self.memory),
            resource.RLIMIT_FSIZE: (self.largest_file, self.largest_file),
        }
        for what, (soft, hard) in limits.items():
            if soft is not None and hard is not None:
                with contextlib.suppress(ValueError, OverflowError, OSError):
                    resource.setrlimit(what, (soft, hard))


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """What a confined process needs of an environment: no setting, no password, nothing of the user's."""
    return {name: environment[name] for name in _KEPT if name in environment} | {"PYTHONDONTWRITEBYTECODE": "1"}


def _leave_network() -> None:
    """Into a network namespace without interfaces, where the kernel allows it to everybody."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def _python() -> Iterator[str]:
    """The interpreter, installed packages and ours. Of other folders on the path only modules: state may lie there."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    yield from prefixes
    yield str(Path(sys.executable).resolve())
    own = Path(__file__).resolve().parents[1]
    yield from (str(own / name) for name in ("core", "service", "worker"))
    for entry in map(Path, filter(None, sys.path)):
        if any(entry.is_relative_to(prefix) for prefix in prefixes):
            continue
        with contextlib.suppress(OSError):
            yield from (str(child.resolve()) for child in entry.iterdir() if _is_module(child))


def _is_module(path: Path) -> bool:
    return path.suffix in (".py", ".so", ".pth", ".dist-info", ".egg-info") or (path / "__init__.py").is_file()


def main() -> None:
    spec, module = sys.argv[1:]
    sys.argv[1:] = []
    Confinement.from_json(spec).apply()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
