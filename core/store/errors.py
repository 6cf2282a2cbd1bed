"""Which of the database's errors may be gone at the next try."""

from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

DOUBLE = (IntegrityError,)
"""the record is there already"""

TRANSIENT = (OperationalError, InterfaceError, PoolTimeoutError, IntegrityError)
"""lost connections, locked tables, a busy pool, and two who entered the same record at once"""
