"""Connections to PostgreSQL that give up: a server that is frozen answers nothing, not even that a time is over.

Statements and locks have their limits on the server. A server that does not answer at all is noticed on this side, by
`_Connection.wait`, through which psycopg waits for everything; the connection is closed, and the breaker opens.
"""

import math
import time
from collections.abc import Generator
from typing import Any

import psycopg
from sqlalchemy import URL, Engine, create_engine, event

from certiset.core.store.breaker import Breaker

_SLOW_SECONDS = 1.0
"""a connection that was refused sooner than this cost nobody any time"""


def postgresql_engine(url: URL, seconds: float, breaker: Breaker) -> Engine:
    """The server's own limits are a little shorter, so that a server that lives has the first word."""
    milliseconds = max(1, int(800 * seconds))
    options = {
        "connect_timeout": max(2, math.ceil(seconds)),
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "tcp_user_timeout": max(1, int(2000 * seconds)),
        "options": f"-c statement_timeout={milliseconds} -c lock_timeout={milliseconds}",
    }
    engine = create_engine(url, pool_pre_ping=True, pool_timeout=seconds, connect_args=options, hide_parameters=True)

    @event.listens_for(engine, "do_connect")
    def _connect(_dialect: Any, _record: Any, arguments: Any, parameters: Any) -> Any:
        if breaker.has_just_tripped:
            # A connection from the pool has just proved dead: a new one would only take the same time again.
            raise psycopg.OperationalError("the server did not answer a moment ago")
        begin = time.monotonic()
        try:
            connection = _Connection.connect(*arguments, **parameters)
        except psycopg.OperationalError:
            if time.monotonic() - begin > _SLOW_SECONDS:
                breaker.trip()
            raise
        connection.breaker = breaker
        return connection

    @event.listens_for(engine, "checkout")
    def _taken(connection: Any, _record: Any, _proxy: Any) -> None:
        connection.limit = seconds

    return engine


class _Connection(psycopg.Connection[Any]):
    breaker: Breaker
    limit: float | None = None
    """seconds that the server may take to answer; None: as long as it likes, as while psycopg connects"""

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        if self.limit is None:
            return super().wait(gen, *arguments, **options)
        return super().wait(self._until(time.monotonic() + self.limit, gen), *arguments, **options)

    def _until(self, deadline: float, gen: Any) -> Generator[Any, Any, Any]:
        """What psycopg waits for, until the deadline; psycopg wakes a waiting generator several times a second."""
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > deadline:
                    self.breaker.trip()
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the server does not answer")
                wanted = gen.send(ready)
        except StopIteration as ended:
            return ended.value


def wait_without_limit(connection: Any) -> None:
    """For what may take its time, such as a migration, until SQLAlchemy's ``connection`` is returned."""
    connection.connection.driver_connection.limit = None
