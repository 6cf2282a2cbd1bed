"""Progress of calibrations that somebody watches: one look at the database serves all who watch the same one."""

import asyncio
import contextlib
from collections.abc import Sequence

from anyio.to_thread import run_sync

from certiset.core.errors import CertisetError, UnavailableError
from certiset.core.resources import FINISHED
from certiset.core.store import Store
from certiset.core.store.records import Calibration, ReportRecord

_POLL_SECONDS = 0.3


class ProgressFeed:
    """All reports of one calibration so far. Used from the event loop alone."""

    record: Calibration

    def __init__(self, store: Store, tenant: str, id: str) -> None:
        self._store, self._tenant, self._id = store, tenant, id
        self._reports: list[ReportRecord] = []
        self._changed = asyncio.Event()
        self.watchers = 0
        self.is_over = False
        """whether nothing more is known about it, such as when it was deleted"""
        self.first_look = asyncio.create_task(self._look())
        self._polling = asyncio.create_task(self._poll())

    def after(self, number: int) -> Sequence[ReportRecord]:
        """The reports after this one."""
        return [report for report in self._reports if report.number > number]

    async def change(self, seconds: float) -> None:
        """Returns when something is new, or after so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    def close(self) -> None:
        self._polling.cancel()

    async def _poll(self) -> None:
        try:
            await self.first_look
            while self.record.status not in FINISHED:
                await asyncio.sleep(_POLL_SECONDS)
                # The database may restart; who watches need not know.
                with contextlib.suppress(UnavailableError):
                    await self._look()
        except CertisetError:
            self.is_over = True

    async def _look(self) -> None:
        last = self._reports[-1].number if self._reports else 0

        def look() -> tuple[Calibration, Sequence[ReportRecord]]:
            with self._store.reading() as work:
                return work.calibrations.get(self._tenant, self._id), work.reports.after(self._id, last)

        self.record, reports = await run_sync(look)
        self._reports += reports
        if reports or self.record.status in FINISHED:
            self._changed.set()
            self._changed = asyncio.Event()


class ProgressFeeds:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._feeds: dict[tuple[str, str], ProgressFeed] = {}

    async def join(self, tenant: str, id: str) -> ProgressFeed:
        """To be left again by `leave`, unless this raises."""
        feed = self._feeds.get((tenant, id))
        if feed is None:
            feed = self._feeds[tenant, id] = ProgressFeed(self._store, tenant, id)
        feed.watchers += 1
        try:
            # Others may wait for the same look.
            await asyncio.shield(feed.first_look)
        except BaseException:
            self.leave(tenant, id, feed)
            raise
        return feed

    def leave(self, tenant: str, id: str, feed: ProgressFeed) -> None:
        feed.watchers -= 1
        if not feed.watchers:
            feed.close()
            del self._feeds[tenant, id]
