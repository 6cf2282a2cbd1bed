"""A database transaction that is retried while the database is unavailable."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from certiset.core.errors import DuplicateError, StoreFullError, UnavailableError
from certiset.core.store import Store
from certiset.core.store.errors import driver_message
from certiset.core.store.store import Transaction

_log = logging.getLogger(__name__)
_PAUSE_SECONDS = 0.5
_MAY_PASS = (UnavailableError, StoreFullError, DuplicateError)
"""duplicates, too: two identical fits that end at the same time store the same predictor, and the second finds it"""

T = TypeVar("T")


def with_retries(store: Store, deadline: float, step: Callable[[Transaction], T]) -> T:
    """What the step returns, in its own transaction; the last error once ``deadline`` (monotonic clock) is near."""
    while True:
        try:
            with store.writing() as work:
                return step(work)
        except _MAY_PASS as error:
            _log.warning("A database transaction failed: %s", driver_message(error))
            if time.monotonic() + _PAUSE_SECONDS > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
