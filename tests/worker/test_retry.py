import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from certiset.core.errors import (
    DatabaseBusyError,
    DatabaseUnavailableError,
    DuplicateError,
    NotFoundError,
    StoreError,
    StoreFullError,
)
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.store import Transaction
from certiset.worker import retry
from certiset.worker.retry import with_retries
from tests.databases import new_store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(retry, "_PAUSE_SECONDS", 0.01)
    opened = new_store(Settings(home=tmp_path))
    yield opened
    opened.close()


class Step:
    """Fails so many times, then succeeds."""

    def __init__(self, error: Exception, failures: int) -> None:
        self.error, self.left, self.calls = error, failures, 0

    def __call__(self, work: Transaction) -> str:
        self.calls += 1
        self.left -= 1
        if self.left >= 0:
            raise self.error
        return "done"


@pytest.mark.parametrize("kind", [DatabaseUnavailableError, DatabaseBusyError, DuplicateError, StoreFullError])
def test_what_may_pass_is_tried_again_until_the_deadline(store: Store, kind: type[StoreError]) -> None:
    step = Step(kind("It did not work."), 3)
    assert with_retries(store, time.monotonic() + 10, step) == "done"
    assert step.calls == 4
    with pytest.raises(kind):
        with_retries(store, time.monotonic() + 0.05, Step(kind("It did not work."), 10**9))


def test_other_errors_are_raised_at_once(store: Store) -> None:
    for error in (NotFoundError("There is no such calibration."), ZeroDivisionError()):
        step = Step(error, 1)
        with pytest.raises(type(error)):
            with_retries(store, time.monotonic() + 10, step)
        assert step.calls == 1
