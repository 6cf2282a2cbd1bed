"""Feeds that somebody watches: one look at the database serves all who watch the same thing."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from certiset.core.errors import CertisetError, UnavailableError


class Feed(ABC):
    """All that is known so far about one record, looked at again and again. Used from the event loop alone."""

    poll_seconds: ClassVar[float]

    def __init__(self) -> None:
        self._changed = asyncio.Event()
        self.watchers = 0
        self.is_over = False
        """whether nothing more can be known about it, such as when it was deleted"""
        self.first_look = asyncio.create_task(self._look())
        self._polling = asyncio.create_task(self._poll())

    @abstractmethod
    async def _look(self) -> None:
        """Learns what is new, and calls `_tell` if anything is."""

    @property
    def is_finished(self) -> bool:
        """Whether nothing will happen to the record any more."""
        return False

    async def change(self, seconds: float) -> None:
        """Returns when something is new, or after so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    def close(self) -> None:
        self._polling.cancel()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _poll(self) -> None:
        try:
            await self.first_look
            while not self.is_finished:
                await asyncio.sleep(self.poll_seconds)
                # The database may restart; who watches need not know.
                with contextlib.suppress(UnavailableError):
                    await self._look()
        except CertisetError:
            self.is_over = True


F = TypeVar("F", bound=Feed)


class Feeds(Generic[F]):
    """Used from the event loop alone."""

    def __init__(self, make: Callable[[str, str], F]) -> None:
        """``make`` begins the feed of a tenant's record."""
        self._make = make
        self._feeds: dict[tuple[str, str], F] = {}

    async def join(self, tenant: str, id: str) -> F:
        """To be left again by `leave`, unless this raises."""
        feed = self._feeds.get((tenant, id))
        if feed is None:
            feed = self._feeds[tenant, id] = self._make(tenant, id)
        feed.watchers += 1
        try:
            # Others may wait for the same look.
            await asyncio.shield(feed.first_look)
        except BaseException:
            self.leave(tenant, id, feed)
            raise
        return feed

    def leave(self, tenant: str, id: str, feed: F) -> None:
        feed.watchers -= 1
        if not feed.watchers:
            feed.close()
            del self._feeds[tenant, id]
