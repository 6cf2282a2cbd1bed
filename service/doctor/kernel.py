"""What the kernel offers to confine processes that handle strangers' files: Landlock, and namespaces for everybody."""

import subprocess
import sys
from collections.abc import Iterator

from certiset.core import landlock
from certiset.service.doctor.finding import Finding

_NEW_NAMESPACES = """
import ctypes, sys
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
sys.exit(ctypes.CDLL(None).unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
"""


def check_kernel() -> Iterator[Finding]:
    if sys.platform != "linux":
        yield Finding("landlock", "warning", "Only Linux has it: confined processes can read what their user can.")
        return
    version = landlock.version()
    if version:
        yield Finding("landlock", "ok", f"version {version}: confined processes see no file but their own")
    else:
        advice = "use Linux 5.13 or newer with lsm=landlock, and a container runtime that permits it"
        yield Finding("landlock", "warning", f"Missing, so that confined processes can read files: {advice}.")
    if _can_make_namespaces():
        yield Finding("namespaces", "ok", "confined processes have no network")
    else:
        advice = "allow unprivileged user namespaces, or close the network around the containers"
        yield Finding("namespaces", "warning", f"Not for this user, so that confined processes may connect: {advice}.")


def _can_make_namespaces() -> bool:
    """Tried in a process of its own, which cannot come back from there."""
    done = subprocess.run([sys.executable, "-I", "-c", _NEW_NAMESPACES], capture_output=True, check=False, timeout=30)
    return done.returncode == 0
