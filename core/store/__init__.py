"""Records in a database, arrays in content-addressed files, and the leases that keep two workers apart."""

from certiset.core.store.artifacts import Artifacts
from certiset.core.store.database import Database
from certiset.core.store.store import Store, Transaction

__all__ = ["Artifacts", "Database", "Store", "Transaction"]
