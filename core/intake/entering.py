"""Entering a record that somebody else may be entering at the same moment."""

from collections.abc import Callable
from typing import TypeVar

from core.store.errors import DOUBLE
from core.store.store import Store, Transaction

R = TypeVar("R")


def enter(store: Store, known: Callable[[Transaction], R | None], add: Callable[[Transaction], R]) -> tuple[R, bool]:
    """The record, and whether it is new: of two who enter the same, one makes it and the other finds it."""
    try:
        with store.writing() as work:
            found = known(work)
            return (found, False) if found is not None else (add(work), True)
    except DOUBLE:
        with store.reading() as work:
            found = known(work)
        if found is None:
            raise
        return found, False
