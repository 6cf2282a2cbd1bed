"""Time by the database's clock, in seconds since 1970: machines whose clocks disagree still agree on a lease."""

from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement


class now(FunctionElement[float]):  # noqa: N801 (reads as SQL's own functions do)
    inherit_cache = True
    type = Double()


@compiles(now, "postgresql")
def _postgresql(element: Any, compiler: Any, **kw: Any) -> str:
    return "extract(epoch from clock_timestamp())::double precision"


@compiles(now, "sqlite")
def _sqlite(element: Any, compiler: Any, **kw: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"
