"""Landlock: Linux lets a process give up files, TCP and signals for good, without privileges.

https://docs.kernel.org/userspace-api/landlock.html
Standard library alone: it is called before anything else is loaded.
"""

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GIVE_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""how many rights on files each version knows; later ones know as many as the fifth"""
_TCP = 0b11
_SCOPES = 0b11
"""abstract sockets of, and signals to, processes outside"""


def version() -> int:
    """Of Landlock in this kernel; 0 if there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, _syscall(_CREATE_RULESET, None, 0, _GIVE_VERSION))


def restrict(*, readable: Iterable[str], listable: Iterable[str], writable: Iterable[str], network: bool) -> bool:
    """Leaves this thread, and what it starts, nothing but these paths; whether the kernel could do it.

    Of ``listable`` folders the names can be seen, and nothing else. A path that does not exist is left out.
    """
    known = version()
    if not known:
        return False
    rights = (1 << _FILE_RIGHTS.get(known, _FILE_RIGHTS[5])) - 1
    attributes = struct.pack("<Q", rights)
    if known >= 4:
        attributes += struct.pack("<Q", 0 if network else _TCP)
    if known >= 6:
        attributes += struct.pack("<Q", _SCOPES)
    ruleset = _syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        for paths, access in ((readable, _READ), (listable, _READ_DIR), (writable, rights)):
            for path in paths:
                with contextlib.suppress(OSError):
                    _allow(ruleset, path, access & rights)
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return _syscall(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _ON_FILES
        rule = struct.pack("<Qi", access, place)
        if _syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0) != 0:
            raise OSError(ctypes.get_errno(), "no rule could be added", path)
    finally:
        os.close(place)


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    """-1 for an error."""
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    found: int = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *wide)
    return found
