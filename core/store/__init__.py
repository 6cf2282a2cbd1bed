"""Records in a database, arrays in content-addressed files, and the leases that keep two workers apart."""

from core.store.artifacts import Artifacts
from core.store.database import Database
from core.store.store import Store, Transaction

__all__ = ["Artifacts", "Database", "Store", "Transaction"]
