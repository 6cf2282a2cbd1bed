"""Tests of jobs that race in the database run on SQLite and on PostgreSQL, as those of the store do."""

from tests.core.store.conftest import database_url, store

__all__ = ["database_url", "store"]
