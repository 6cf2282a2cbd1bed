"""A step in the database, tried again while the database is away."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from core.errors import first_line
from core.store import Store
from core.store.errors import TRANSIENT
from core.store.leases import Leases

_log = logging.getLogger(__name__)
_PAUSE_SECONDS = 0.5

T = TypeVar("T")


class OutOfReachError(Exception):
    """The database did not answer in time."""


def patiently(store: Store, deadline: float, step: Callable[[Leases], T]) -> T:
    """The step's answer, in a transaction of its own; tried until ``deadline`` by the monotonic clock."""
    while True:
        try:
            with store.writing() as work:
                return step(work.leases)
        except TRANSIENT as error:
            _log.warning("The database does not answer: %s", first_line(error))
            if time.monotonic() + _PAUSE_SECONDS > deadline:
                raise OutOfReachError from error
            time.sleep(_PAUSE_SECONDS)
