"""Progress of calibrations that somebody watches: one look at the database serves all who watch the same one."""

from collections.abc import Sequence

from anyio.to_thread import run_sync

from certiset.core.resources import FINISHED
from certiset.core.store import Store
from certiset.core.store.records import Calibration, ReportRecord
from certiset.service.http.feeds import Feed, Feeds


class ProgressFeed(Feed):
    """All reports of one calibration so far."""

    record: Calibration
    poll_seconds = 0.3

    def __init__(self, store: Store, tenant: str, id: str) -> None:
        self._store, self._tenant, self._id = store, tenant, id
        self._reports: list[ReportRecord] = []
        super().__init__()

    @property
    def is_finished(self) -> bool:
        return self.record.status in FINISHED

    def after(self, number: int) -> Sequence[ReportRecord]:
        """The reports after this one."""
        return [report for report in self._reports if report.number > number]

    async def _look(self) -> None:
        last = self._reports[-1].number if self._reports else 0

        def look() -> tuple[Calibration, Sequence[ReportRecord]]:
            with self._store.reading() as work:
                return work.calibrations.get(self._tenant, self._id), work.reports.after(self._id, last)

        self.record, reports = await run_sync(look)
        self._reports += reports
        if reports or self.is_finished:
            self._tell()


class ProgressFeeds(Feeds[ProgressFeed]):
    def __init__(self, store: Store) -> None:
        super().__init__(lambda tenant, id: ProgressFeed(store, tenant, id))
