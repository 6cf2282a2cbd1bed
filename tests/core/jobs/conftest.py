"""Tests of jobs that race in the database run on SQLite and on PostgreSQL, as those of the store do.

What is uploaded is read in confined processes, which are forked.
"""

from collections.abc import Iterator

import pytest

from tests.core.store.conftest import database_kind, store, template
from tests.launcher import confined_by_forking

__all__ = ["database_kind", "store", "template"]


@pytest.fixture(autouse=True, scope="package")
def _forked() -> Iterator[None]:
    with confined_by_forking():
        yield
